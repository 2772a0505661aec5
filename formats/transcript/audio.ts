import type { AudioRef } from '../../domain/scenario.ts';
import type { Path } from '../document.ts';
import type { TranscriptReader } from './reader.ts';

const rates: readonly number[] = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];

/** A WAV file beside the transcript; refuses one that is missing, or not mono with 16 bits at a common rate. */
export function readAudio(reader: TranscriptReader, name: string, path: Path): AudioRef | undefined {
  const found = reader.context.audio?.(reader.besides(name));
  if (found === undefined) reader.refuse(path, `there is no file ${name}`);
  else if ('message' in found) reader.add({ ...found, where: reader.row.placeOf(path) });
  else {
    const read = wavFormat(found.bytes);
    const wrong = typeof read === 'string' ? read : wrongIn(read);
    if (wrong !== undefined) reader.refuse(path, `${name} ${wrong}`, 'WAV, mono, 16-bit PCM');
    else if (typeof read !== 'string') return { file: found.file, sha256: found.sha256, rate: read.rate };
  }
  return undefined;
}

type WavFormat = {
  readonly code: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
};

function wrongIn({ code, channels, rate, bits }: WavFormat): string | undefined {
  if (code !== pcm && code !== extensible) return `is compressed (format ${code})`;
  if (channels !== 1) return `has ${channels} channels`;
  if (bits !== 16) return `has ${bits} bits a sample`;
  return rates.includes(rate) ? undefined : `has ${rate} samples a second (${rates.join(', ')} can be had)`;
}

const pcm = 1;
const extensible = 0xfffe;

/** The `fmt ` chunk of a RIFF file, or what is wrong. */
function wavFormat(bytes: Uint8Array): WavFormat | string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const name = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || name(0) !== 'RIFF' || name(8) !== 'WAVE') return 'is no WAV file';
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    if (name(at) === 'fmt ' && at + 24 <= bytes.length) {
      const [code, channels] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
      return { code, channels, rate: view.getUint32(at + 12, true), bits: view.getUint16(at + 22, true) };
    }
    at += 8 + size + (size % 2);
  }
  return 'is no WAV file: it has no format';
}
