import { dirname } from 'node:path';
import { sync } from './files.ts';

/** Waits until the names in `folder`, and in each folder above it up to `top`, are on the disk. */
export type SyncFolders = (folder: string, top: string) => Promise<void>;

/** So many folders are remembered as being on the disk by name; beyond, they are synced once more. */
const remembered = 20_000;

/**
 * Syncs folders for many writers at once: one sync serves all who asked before it began, and a folder whose own name
 * this process has seen onto the disk asks nothing of those above it. With a window of hundreds, nearly all syncs of
 * the upper folders are the same.
 */
export function createFolderSync(syncOne: (folder: string) => Promise<void> = sync): SyncFolders {
  const named = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();

  /** A sync that is under way may have missed a name that was written after it began; so the next one counts. */
  function syncNext(folder: string): Promise<void> {
    const known = waiting.get(folder);
    if (known !== undefined) return known;
    const before = running.get(folder)?.catch(() => {}) ?? Promise.resolve();
    const next = before.then(() => {
      waiting.delete(folder);
      const now = syncOne(folder).finally(() => {
        if (running.get(folder) === now) running.delete(folder);
      });
      running.set(folder, now);
      return now;
    });
    waiting.set(folder, next);
    return next;
  }

  async function syncUpTo(folder: string, top: string): Promise<void> {
    await syncNext(folder);
    if (folder === top || named.has(folder)) return;
    await syncUpTo(dirname(folder), top);
    if (named.size >= remembered) named.clear();
    named.add(folder);
  }
  return syncUpTo;
}
