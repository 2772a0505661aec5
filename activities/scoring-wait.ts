import type { Fault } from '../domain/fault.ts';
import { type NextTry, nextTry } from '../domain/retry-policy.ts';
import type { Clock } from './ports.ts';
import type { Scoring } from './score.ts';

/** Tries of a judge's call, and of a module's; refusals to be patient about never count. */
const scoringTries = 3;

/** What comes after a fault of a judge or a module: it is never given up for the time that it takes. */
export function nextScoringTry(
  { code, retryAfterMs }: Fault,
  count: { readonly tries: number; readonly refusals?: number },
  jitter: number,
): NextTry {
  return nextTry(
    { code, called: 'target', ...count, failingMs: 0, waitedMs: 0, retryAfterMs },
    { targetTries: scoringTries, giveUpMs: Number.POSITIVE_INFINITY },
    jitter,
  );
}

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
