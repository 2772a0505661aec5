import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from './refusal.ts';

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/** Does `work` again, after longer and longer waits, while what it is refused may pass, for at most `patienceMs`. */
export async function patiently<Result>(patienceMs: number, work: () => Promise<Result>): Promise<Result> {
  const endsAt = Date.now() + patienceMs;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    try {
      return await work();
    } catch (error) {
      const jitteredMs = waitMs * (0.5 + Math.random() / 2);
      if (!isPassing(error) || Date.now() + jitteredMs > endsAt) throw error;
      await sleep(jitteredMs);
    }
  }
}
