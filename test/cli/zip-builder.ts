import { crc32, deflateRawSync } from 'node:zlib';

type NewEntry = { readonly name: string; readonly text: string; readonly isStored?: boolean };

/** A zip archive of these entries, with an extra field in the local headers only, as some archivers write it. */
export function aZip(entries: readonly NewEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  for (const entry of entries) {
    const offset = locals.reduce((sum, { length }) => sum + length, 0);
    const data = entry.isStored ? Buffer.from(entry.text) : deflateRawSync(entry.text);
    const name = Buffer.from(entry.name);
    locals.push(localHeader(entry, data, 4), name, Buffer.alloc(4), data);
    directory.push(directoryHeader(entry, data, offset), name);
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(Buffer.concat(locals).length, 16);
  return Buffer.concat([...locals, central, end]);
}

function localHeader(entry: NewEntry, data: Buffer, extraBytes: number): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  writeFacts(header.subarray(6), entry, data);
  header.writeUInt16LE(extraBytes, 28);
  return header;
}

function directoryHeader(entry: NewEntry, data: Buffer, offset: number): Buffer {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(20, 6);
  writeFacts(header.subarray(8), entry, data);
  header.writeUInt32LE(offset, 42);
  return header;
}

// Flags, method, time, date, CRC, sizes and the name's length lie in the same order in both headers.
function writeFacts(part: Buffer, { name, text, isStored }: NewEntry, data: Buffer): void {
  part.writeUInt16LE(isStored ? 0 : 8, 2);
  part.writeUInt32LE(crc32(text), 8);
  part.writeUInt32LE(data.length, 12);
  part.writeUInt32LE(Buffer.byteLength(text), 16);
  part.writeUInt16LE(Buffer.byteLength(name), 20);
}
