import type { FileHandle } from 'node:fs/promises';
import type { JournalWriter } from '../../activities/ports.ts';
import {
  compareWriters,
  type FoldedJournal,
  foldJournal,
  type JournalEvent,
  type JournalPart,
} from '../../domain/journal.ts';
import { encodeEvents, parseEvents } from '../../formats/journal-lines.ts';
import { inStore, listNames, openNew, readText, storeUnavailable, sync } from './files.ts';
import type { SyncFolders } from './folder-sync.ts';
import { partFile, runFolder, sweepFolderOf, writerOf } from './paths.ts';

/** What holds of a run's journal; empty where there is none. */
export async function readJournal(store: string, run: string): Promise<FoldedJournal> {
  const folder = runFolder(store, run);
  return foldJournal(await readParts(folder, writersOf(await listNames(folder))));
}

/**
 * Creates this writer's part and says in it what it builds on. Throws `Fault` store_unavailable where a later writer
 * has the journal already: every reader would ignore this one's events, so no call may be paid for them.
 */
export async function openJournal(
  store: string,
  run: string,
  writer: string,
  syncUpTo: SyncFolders,
): Promise<JournalWriter> {
  const folder = runFolder(store, run);
  const path = partFile(folder, writer);
  const writers = writersOf(await listNames(folder));
  const later = writers.find((other) => compareWriters(other, writer) > 0);
  if (later !== undefined) throw storeUnavailable(path, `the later writer ${later} has this journal`);
  const folded = foldJournal(await readParts(folder, writers));
  const handle = await inStore(path, () => openNew(path, 'ax'));
  const part = createPart(handle, path);
  try {
    await part.append([{ kind: 'resumed', at: Date.now(), accepts: folded.accepts }]);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const buildsOn = Object.keys(folded.accepts).map((earlier) => partFile(folder, earlier));
  const flushFirst = once(async () => {
    // A writer that was killed did not flush its part, and this one is worth nothing without it.
    await Promise.all(buildsOn.map(sync));
    await syncUpTo(folder, sweepFolderOf(store, run));
  });
  return {
    writer,
    folded,
    append: part.append,
    flush: () =>
      part.next(async () => {
        await handle.datasync();
        await flushFirst();
      }),
    close: () => part.next(() => handle.close()),
  };
}

type Part = {
  readonly append: (events: readonly JournalEvent[]) => Promise<void>;
  /** Does `work` after everything that was asked for before it. */
  readonly next: (work: () => Promise<void>) => Promise<void>;
};

/**
 * A part that is only ever longer by whole lines: readers count lines, so a line that was once whole must never
 * change. What a failed append left torn is cut off; where it left whole lines, this writer is spent.
 */
function createPart(handle: FileHandle, path: string): Part {
  let length = 0;
  let torn = false;
  let spent = false;
  let queue: Promise<unknown> = Promise.resolve();

  const next: Part['next'] = (work) => {
    const done = queue.then(() => inStore(path, work));
    queue = done.catch(() => {});
    return done;
  };

  const cutTorn = async (): Promise<void> => {
    await handle.truncate(length);
    torn = false;
  };

  const write = async (lines: Buffer): Promise<void> => {
    if (spent) throw storeUnavailable(path, 'an append failed half way; only another writer can go on');
    if (torn) await cutTorn();
    let written = 0;
    try {
      while (written < lines.length) written += (await handle.write(lines, written)).bytesWritten;
    } catch (error) {
      const whole = lines.subarray(0, written).lastIndexOf('\n') + 1;
      length += whole;
      spent = whole > 0;
      torn = written > whole;
      // Where the disk refuses this too, the next append tries again before it writes.
      if (torn) await cutTorn().catch(() => {});
      throw error;
    }
    length += lines.length;
  };

  return { next, append: (events) => next(() => write(Buffer.from(encodeEvents(events)))) };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    await work();
    isDone = true;
  };
}

function writersOf(names: readonly string[]): readonly string[] {
  return names.map(writerOf).filter((writer) => writer !== undefined);
}

function readParts(folder: string, writers: readonly string[]): Promise<readonly JournalPart[]> {
  return Promise.all(
    writers.map(async (writer) => {
      const path = partFile(folder, writer);
      return { writer, events: parseEvents((await readText(path)) ?? '', path) };
    }),
  );
}
