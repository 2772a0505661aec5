/** Runs in a row that one endpoint's configuration broke, without a success of that endpoint in between. */
export type Streaks = readonly Streak[];

export type Streak = {
  readonly endpoint: string;
  /** Of the runs: another variant's success says nothing of this one's endpoints. */
  readonly variant: string | undefined;
  readonly count: number;
};

/** So many halt a sweep. */
export const haltingStreak = 20;

/** What streaks need to know of a run that has ended. */
export type StreakRun = {
  readonly variant?: string | undefined;
  readonly blame?: string;
  readonly endpoint?: string;
  readonly code?: string;
  readonly played: boolean;
};

/**
 * The streaks after a run: one more for the endpoint that broke it; a run that was played to its end shows that the
 * endpoints of its variant work, so it ends their streaks.
 */
export function afterRun(streaks: Streaks, run: StreakRun): Streaks {
  const { variant } = run;
  if (run.played) return streaks.filter((streak) => streak.variant !== variant);
  if (run.blame !== 'configuration') return streaks;
  const endpoint = run.endpoint ?? run.code ?? 'unknown';
  const at = streaks.findIndex((streak) => streak.endpoint === endpoint && streak.variant === variant);
  const streak = { endpoint, variant, count: (streaks[at]?.count ?? 0) + 1 };
  return at === -1 ? [...streaks, streak] : streaks.with(at, streak);
}

/** The endpoint whose streak halts the sweep, if any does. */
export function haltingEndpoint(streaks: Streaks): string | undefined {
  return streaks.find(({ count }) => count >= haltingStreak)?.endpoint;
}
