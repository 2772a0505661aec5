/** Runs in a row that one endpoint's configuration broke, without a success of that endpoint in between. */
export type Streaks = Readonly<Record<string, number>>;

/** So many halt a sweep. */
export const haltingStreak = 20;

/**
 * The streaks after a run: one more for the endpoint that broke it; a run that was played to its end shows that its
 * endpoints work, so it ends every streak.
 */
export function afterRun(
  streaks: Streaks,
  run: {
    readonly blame?: string;
    readonly endpoint?: string;
    readonly code?: string;
    readonly played: boolean;
  },
): Streaks {
  if (run.played) return {};
  if (run.blame !== 'configuration') return streaks;
  const endpoint = run.endpoint ?? run.code ?? 'unknown';
  return { ...streaks, [endpoint]: (streaks[endpoint] ?? 0) + 1 };
}

/** The endpoint whose streak halts the sweep, if any does. */
export function haltingEndpoint(streaks: Streaks): string | undefined {
  return Object.entries(streaks).find(([, count]) => count >= haltingStreak)?.[0];
}
