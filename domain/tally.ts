import type { Outcome } from './outcome.ts';

/** What the runs of a shard, or of a sweep, have come to so far: small enough for a history. */
export type Tally = {
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  /** Runs that were broken, by the code of their fault. */
  readonly faults: Readonly<Record<string, number>>;
  readonly usd: number;
  readonly calls: number;
  readonly wasted: number;
  readonly tokens: number;
  /** Faulty calls that were tried again. */
  readonly tried: number;
};

export const emptyTally: Tally = {
  outcomes: {},
  faults: {},
  usd: 0,
  calls: 0,
  wasted: 0,
  tokens: 0,
  tried: 0,
};

type Counts = Readonly<Record<string, number>>;

function addCounts(a: Counts, b: Counts): Counts {
  const sum: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
}

/** The sum of two tallies. */
export function addTally(a: Tally, b: Tally): Tally {
  return {
    outcomes: addCounts(a.outcomes, b.outcomes),
    faults: addCounts(a.faults, b.faults),
    usd: a.usd + b.usd,
    calls: a.calls + b.calls,
    wasted: a.wasted + b.wasted,
    tokens: a.tokens + b.tokens,
    tried: a.tried + b.tried,
  };
}

/** How many runs have ended, in any way. */
export function endedRuns(tally: Tally): number {
  return Object.values(tally.outcomes).reduce((sum, count) => sum + count, 0);
}
