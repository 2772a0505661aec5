import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

type Entry = {
  readonly name: string;
  readonly isDeflated: boolean;
  readonly compressedBytes: number;
  readonly headerOffset: number;
};

/**
 * Unpacks the one entry whose name ends in `ending` into an executable file.
 * Knows stored and deflated entries below 4 GB (APPNOTE.TXT 4.3); throws when the archive or the entry is not there.
 */
export async function unpackEntry(archive: string, ending: string, to: string): Promise<void> {
  const file = await open(archive);
  try {
    const entry = (await readDirectory(file)).find(({ name }) => name.endsWith(ending));
    if (entry === undefined) throw new Error(`${archive} holds no entry that ends in ${ending}`);
    const start = await dataOffset(file, entry);
    const source = createReadStream(archive, { start, end: start + entry.compressedBytes - 1 });
    const sink = createWriteStream(to, { mode: 0o755 });
    await (entry.isDeflated ? pipeline(source, createInflateRaw(), sink) : pipeline(source, sink));
  } finally {
    await file.close();
  }
}

const endOfDirectory = 0x06054b50;
const endBytes = 22;
const longestComment = 0xffff;

async function readDirectory(file: FileHandle): Promise<readonly Entry[]> {
  const { size } = await file.stat();
  const tail = await readAt(file, Math.max(0, size - endBytes - longestComment), endBytes + longestComment);
  for (let at = tail.length - endBytes; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== endOfDirectory) continue;
    const directory = await readAt(file, tail.readUInt32LE(at + 16), tail.readUInt32LE(at + 12));
    return readEntries(directory, tail.readUInt16LE(at + 10));
  }
  throw new Error('not a zip archive: no end of a central directory');
}

function readEntries(directory: Buffer, count: number): readonly Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; entries.length < count; ) {
    const nameBytes = directory.readUInt16LE(at + 28);
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + nameBytes),
      isDeflated: directory.readUInt16LE(at + 10) === 8,
      compressedBytes: directory.readUInt32LE(at + 20),
      headerOffset: directory.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

// The local header repeats name and extra field, and its extra field may be longer than the directory's.
async function dataOffset(file: FileHandle, entry: Entry): Promise<number> {
  const header = await readAt(file, entry.headerOffset, 30);
  return entry.headerOffset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
