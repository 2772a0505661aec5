import type { Interval } from './interval.ts';
import type { Comparison, GateVerdict } from './threshold.ts';

// Fractions such as 2/3 meet themselves whatever way they were computed.
const tolerance = 1e-9;

function isClose(a: number, b: number): boolean {
  if (!Number.isFinite(a)) return a === b;
  return Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b));
}

/** Whether a value meets a comparison with a bound; values within 1e-9 (relative from 1 on) are equal. */
export function meets(value: number, comparison: Comparison, bound: number): boolean {
  const equal = isClose(value, bound);
  switch (comparison) {
    case '>=':
      return equal || value > bound;
    case '>':
      return !equal && value > bound;
    case '<=':
      return equal || value < bound;
    case '<':
      return !equal && value < bound;
    case '==':
      return equal;
    case '!=':
      return !equal;
  }
}

/** The verdict where the value is only known to lie in an interval: undecided where both are possible. */
export function verdictWithin([low, high]: Interval, comparison: Comparison, bound: number): GateVerdict {
  const ends = [meets(low, comparison, bound), meets(high, comparison, bound)];
  if (ends[0] !== ends[1]) return 'undecided';
  const inside = low < bound && bound < high && (comparison === '==' || comparison === '!=');
  if (inside) return 'undecided';
  return ends[0] ? 'open' : 'shut';
}

/** Whether more is better: which end of a range is the worst. Equality has no better side. */
export function wantsMore(comparison: Comparison): boolean {
  return comparison !== '<=' && comparison !== '<';
}
