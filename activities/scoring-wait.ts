import type { Clock } from './ports.ts';
import type { Scoring } from './score.ts';

/**
 * Waits between two tries of scoring. Returns undefined when it is time for the next one, else how many milliseconds
 * whoever called is to wait instead: all of them where that is too long for here, none where scoring must stop.
 * Throws the signal's reason when aborted.
 */
export async function waitWithin(
  scoring: Pick<Scoring, 'longestWaitMs' | 'options' | 'stop'>,
  waitMs: number,
  clock: Clock,
): Promise<number | undefined> {
  if (waitMs > scoring.longestWaitMs) return waitMs;
  try {
    await clock.sleep(waitMs, scoring.stop);
    return undefined;
  } catch (reason) {
    if (scoring.options.signal.aborted) throw reason;
    return 0;
  }
}
