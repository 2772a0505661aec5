import { setTimeout as sleepFor } from 'node:timers/promises';
import type { Clock } from '../activities/ports.ts';

/** The machine's own time. */
export const systemClock: Clock = {
  now: Date.now,
  async sleep(ms, signal) {
    try {
      // A wait alone is no reason for a process to stay.
      await sleepFor(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};
