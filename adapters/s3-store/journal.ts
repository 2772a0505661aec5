import type { JournalWriter } from '../../activities/ports.ts';
import { compareWriters, type FoldedJournal, foldJournal, type JournalEvent } from '../../domain/journal.ts';
import { encodeEvents } from '../../formats/journal-lines.ts';
import { storeUnavailable } from '../file-store/files.ts';
import { partFile, runFolder } from '../file-store/paths.ts';
import type { Bucket } from './bucket.ts';
import { pieceOf, readParts } from './parts.ts';

/** What holds of a run's journal; empty where there is none. */
export async function readJournal(bucket: Bucket, run: string): Promise<FoldedJournal> {
  return foldJournal(await readParts(bucket, runFolder(bucket.place.prefix, run)));
}

/**
 * Begins this writer's part and says in it what it builds on. Throws `Fault` store_unavailable where this or a later
 * writer has the journal already: every reader would ignore this one's events, so no call may be paid for them.
 */
export async function openJournal(bucket: Bucket, run: string, writer: string): Promise<JournalWriter> {
  const folder = runFolder(bucket.place.prefix, run);
  const address = bucket.addressOf(partFile(folder, writer));
  const parts = await readParts(bucket, folder);
  const holder = parts.find((part) => compareWriters(part.writer, writer) >= 0)?.writer;
  if (holder === writer) throw storeUnavailable(address, 'there is such a part already');
  if (holder !== undefined) throw storeUnavailable(address, `the later writer ${holder} has this journal`);
  const folded = foldJournal(parts);
  const part = createPart(bucket, folder, writer);
  await part.append([{ kind: 'resumed', at: Date.now(), accepts: folded.accepts }]);
  return { writer, folded, ...part };
}

/**
 * A part in pieces, one a request: what is appended while another piece is on its way goes together into the next.
 * No piece needs to be put if absent: a writer's name has a random word in it, and the same bytes may arrive twice.
 * After a put whose fate is unknown the writer is spent, so that nothing can follow what may be missing.
 */
function createPart(
  bucket: Bucket,
  folder: string,
  writer: string,
): Omit<JournalWriter, 'writer' | 'folded'> {
  const pieces: string[] = [];
  let waiting = '';
  let spent = false;
  let queue: Promise<unknown> = Promise.resolve();

  const next = (work: () => Promise<void>): Promise<void> => {
    const done = queue.then(work);
    queue = done.catch(() => {});
    return done;
  };

  const write = async (): Promise<void> => {
    if (spent) {
      const address = bucket.addressOf(partFile(folder, writer));
      throw storeUnavailable(address, 'an append failed; only another writer can go on');
    }
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    spent = true;
    await bucket.put(pieceOf(folder, writer, pieces.length), text);
    spent = false;
    pieces.push(text);
  };

  // One object instead of a dozen is cheaper to list, read and delete; until it is there the pieces hold.
  const join = async (): Promise<void> => {
    if (spent || pieces.length < 2) return;
    await bucket.put(partFile(folder, writer), pieces.join(''));
    await bucket.remove(pieces.map((_, index) => pieceOf(folder, writer, index)));
  };

  return {
    append(events: readonly JournalEvent[]) {
      waiting += encodeEvents(events);
      return next(write);
    },
    flush: () => next(async () => {}),
    close: () => next(() => join().catch(() => {})),
  };
}
