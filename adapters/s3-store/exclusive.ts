import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { storeUnavailable } from '../file-store/files.ts';
import type { Bucket } from './bucket.ts';

/** Writes objects that must not exist. */
export type Exclusive = {
  /** False where there is one already. */
  putNew(key: string, text: string): Promise<boolean>;
  /** Does once all that a store needs of its bucket: write, refuse to write again, read, delete. */
  probe(): Promise<void>;
};

/**
 * Puts if absent. Where the server honours `If-None-Match` it decides. Where it does not (found out once a process)
 * each writer looks, writes, waits `settleMs` and looks whose object is there: the last of those who saw none wins. A
 * write that took longer than `settleMs` does not count, so that never two are told that they put it. But such a
 * write of a frozen process can still take the place of an object that was already confirmed.
 */
export function createExclusive(bucket: Bucket, settleMs: number): Exclusive {
  let honours: Promise<boolean> | undefined;

  const knowsConditions = (): Promise<boolean> => {
    honours ??= tryOut(bucket);
    // A server that was out of reach is asked again.
    honours.catch(() => {
      honours = undefined;
    });
    return honours;
  };

  return {
    async putNew(key, text) {
      const mark = randomUUID();
      if (await knowsConditions()) {
        if ((await bucket.put(key, text, { mark, ifAbsent: true })) === 'put') return true;
        // A put whose answer was lost was made again, and refused for the sake of itself.
        return (await bucket.markOf(key)) === mark;
      }
      const lookedAt = performance.now();
      if ((await bucket.markOf(key)) !== undefined) return false;
      await bucket.put(key, text, { mark });
      if (performance.now() - lookedAt > settleMs) return false;
      await sleep(settleMs);
      return (await bucket.markOf(key)) === mark;
    },
    async probe() {
      honours = undefined;
      await knowsConditions();
    },
  };
}

/** Whether a second put of a new key is refused. */
async function tryOut(bucket: Bucket): Promise<boolean> {
  const key = join(bucket.place.prefix, `.probe-${randomUUID()}`);
  const text = randomUUID();
  await bucket.put(key, text);
  const again = await bucket.put(key, text, { ifAbsent: true });
  const found = await bucket.read(key);
  await bucket.remove([key]);
  if (found !== text)
    throw storeUnavailable(bucket.addressOf(key), 'it does not hold what was written to it');
  return again === 'taken';
}
