import type { OutcomeCounts } from './outcome.ts';
import type { GateVerdict } from './threshold.ts';
import { strictest, type ThresholdResult } from './threshold-result.ts';

export type Gate = { readonly verdict: GateVerdict; readonly reason: string };

const mostNamed = 5;

/**
 * The gate. With thresholds: the strictest that counts. Without any, every run must pass: a failed one shuts it, a
 * missing or undecided one leaves it undecided, and so does a sweep of which every run was skipped.
 */
export function decideGate(results: readonly ThresholdResult[], counts: OutcomeCounts): Gate {
  if (results.length === 0) return gateOfCounts(counts);
  const counting = results.filter(({ coveredBy }) => coveredBy === undefined);
  const verdict = strictest(counting.map((result) => result.verdict));
  const deciding = counting.filter((result) => result.verdict === verdict);
  const texts = deciding
    .slice(0, mostNamed)
    .map(({ text, scenario }) => (scenario === undefined ? text : `${text} of ${scenario}`));
  if (verdict === 'open') return { verdict, reason: 'every threshold is met' };
  const more = deciding.length > mostNamed ? ', ...' : '';
  return { verdict, reason: `${verdict === 'shut' ? 'not met' : 'undecided'}: ${texts.join(', ')}${more}` };
}

function gateOfCounts(counts: OutcomeCounts): Gate {
  const open = counts.undecided + counts.broken + counts.cancelled + counts.unplayed;
  if (counts.failed > 0)
    return { verdict: 'shut', reason: `without thresholds every run must pass: ${counts.failed} failed` };
  if (open > 0)
    return {
      verdict: 'undecided',
      reason: `without thresholds every run must pass: ${open} missing or undecided`,
    };
  if (counts.passed > 0) return { verdict: 'open', reason: 'every run passed' };
  if (counts.skipped > 0) return { verdict: 'undecided', reason: 'every run was skipped' };
  return { verdict: 'open', reason: 'no run was planned' };
}
