import type { JournalPart } from '../../domain/journal.ts';
import { parseEvents } from '../../formats/journal-lines.ts';
import { storeUnavailable } from '../file-store/files.ts';
import { mapParallel } from '../file-store/parallel.ts';
import { partFile, writerOf } from '../file-store/paths.ts';
import type { Bucket } from './bucket.ts';

/** How often a listing is made anew because what it named was gone when it was read. */
const listings = 5;
const readsAtOnce = 32;

/**
 * The key of a piece: an object cannot be appended to, so a part that is being written is a row of pieces
 * (`<writer>/000000.jsonl`). When its writer leaves, they become one object (`<writer>.jsonl`, as in a folder).
 */
export function pieceOf(runFolder: string, writer: string, index: number): string {
  return `${runFolder}/${writer}/${String(index).padStart(6, '0')}.jsonl`;
}

/** The parts of a journal. A part whose pieces were joined is read from the joined object alone: it holds them all. */
export async function readParts(bucket: Bucket, runFolder: string): Promise<readonly JournalPart[]> {
  for (let count = 0; count < listings; count++) {
    const parts = await readListed(bucket, runFolder);
    if (parts !== undefined) return parts;
  }
  throw storeUnavailable(bucket.addressOf(`${runFolder}/`), 'what is listed there cannot be found');
}

/** Undefined where a writer left in between: its pieces were joined after they were listed. */
async function readListed(bucket: Bucket, runFolder: string): Promise<readonly JournalPart[] | undefined> {
  const keys = (await bucket.list(`${runFolder}/`)).map(({ key }) => key);
  const objects = [...objectsByWriter(runFolder, keys)];
  const wanted = objects.flatMap(([, keys]) => keys);
  const texts = await mapParallel(wanted, readsAtOnce, async (key) => [key, await bucket.read(key)] as const);
  const found = new Map(texts);
  if (texts.some(([, text]) => text === undefined)) return undefined;
  return objects.map(([writer, keys]) => ({
    writer,
    events: parseEvents(
      keys.map((key) => found.get(key) ?? '').join(''),
      bucket.addressOf(partFile(runFolder, writer)),
    ),
  }));
}

/** By writer: its joined object, or its pieces up to the first one that is missing. */
function objectsByWriter(runFolder: string, keys: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const all = new Set(keys);
  const names = keys.map((key) => key.slice(runFolder.length + 1).split('/')[0] ?? '');
  const writers = names.map((name) => writerOf(name) ?? writerOf(`${name}.jsonl`));
  const known = new Set(writers.filter((writer) => writer !== undefined));
  return new Map([...known].map((writer) => [writer, objectsOf(runFolder, writer, all)]));
}

function objectsOf(runFolder: string, writer: string, all: ReadonlySet<string>): readonly string[] {
  const joined = partFile(runFolder, writer);
  if (all.has(joined)) return [joined];
  const pieces: string[] = [];
  for (
    let key = pieceOf(runFolder, writer, 0);
    all.has(key);
    key = pieceOf(runFolder, writer, pieces.length)
  ) {
    pieces.push(key);
  }
  return pieces;
}
