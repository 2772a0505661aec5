import type { Blame } from './fault.ts';

/** What became of a run. */
export type Outcome = 'passed' | 'failed' | 'undecided' | 'broken' | 'cancelled' | 'skipped' | 'unplayed';

export const outcomes: readonly Outcome[] = [
  'passed',
  'failed',
  'undecided',
  'broken',
  'cancelled',
  'skipped',
  'unplayed',
];

/** How many runs ended in each outcome; they sum to the planned runs. */
export type OutcomeCounts = { readonly [outcome in Outcome]: number };

export const noOutcomes: OutcomeCounts = {
  passed: 0,
  failed: 0,
  undecided: 0,
  broken: 0,
  cancelled: 0,
  skipped: 0,
  unplayed: 0,
};

/** Whether a run is in no rate, and counted at its worst and at its best in thresholds. */
export function isMissing(outcome: Outcome): boolean {
  return outcome === 'broken' || outcome === 'cancelled' || outcome === 'unplayed';
}

/** Whether checks had their say about a run. */
export function isScored(outcome: Outcome): boolean {
  return outcome === 'passed' || outcome === 'failed' || outcome === 'undecided';
}

export type Verdict = 'pass' | 'fail' | 'undecided';

/** What a required check, or a soft one, came to for one run. */
export type CheckVerdict = { readonly verdict: Verdict; readonly required: boolean };

/**
 * The outcome of a conversation that ended by itself: a target's own error fails it, then a failed required
 * check, then an undecided one. Without required checks it has passed.
 */
export function outcomeOf(
  checks: readonly CheckVerdict[],
  conversation: { readonly targetError: boolean; readonly driverUnfaithful: boolean },
): { readonly outcome: Outcome; readonly blame?: Blame } {
  const required = checks.filter((check) => check.required);
  if (conversation.targetError) return { outcome: 'failed', blame: 'target' };
  if (conversation.driverUnfaithful) return { outcome: 'undecided', blame: 'driver' };
  if (required.some((check) => check.verdict === 'fail')) return { outcome: 'failed' };
  if (required.some((check) => check.verdict === 'undecided'))
    return { outcome: 'undecided', blame: 'judge' };
  return { outcome: 'passed' };
}
