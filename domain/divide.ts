/** Who wants a part of something: `cap` is what it can use, Infinity where that is not known. */
export type Want = { readonly weight: number; readonly cap: number };

/**
 * Divides a whole number among wants (weights above 0): `least` each, as far as there is enough for all; what is
 * left by weight up to what each can use; what nobody needs by weight again. Whole numbers that sum to at most `total`.
 */
export function divide(total: number, wants: readonly Want[], least: number): readonly number[] {
  const floor = Math.min(least, Math.floor(total / Math.max(1, wants.length)));
  const left = total - floor * wants.length;
  const useful = fill(
    left,
    wants.map(({ weight, cap }) => ({ weight, cap: Math.max(0, cap - floor) })),
  );
  const unused = left - sum(useful);
  const weights = sum(wants.map(({ weight }) => weight));
  return wholeNumbers(
    wants.map(({ weight }, index) => floor + (useful[index] ?? 0) + (unused * weight) / weights),
    total,
  );
}

/** By weight up to the caps: who is soonest content is served first, and leaves the rest to the others. */
function fill(total: number, wants: readonly Want[]): readonly number[] {
  const parts = wants.map(() => 0);
  let left = total;
  let weights = sum(wants.map(({ weight }) => weight));
  const soonest = [...wants.entries()].sort(([, a], [, b]) => a.cap / a.weight - b.cap / b.weight);
  for (const [index, { weight, cap }] of soonest) {
    const part = Math.min(cap, (left * weight) / weights);
    parts[index] = part;
    left -= part;
    weights -= weight;
  }
  return parts;
}

/** Rounded down; what that leaves goes to the first ones, one each. */
function wholeNumbers(parts: readonly number[], total: number): readonly number[] {
  // A hair of tolerance, so that 2.9999999 is 3.
  const whole = parts.map((part) => Math.floor(part + 1e-6));
  const wanted = Math.min(Math.floor(total), Math.round(sum(parts)));
  const left = wanted - sum(whole);
  return whole.map((part, index) => part + (index < left ? 1 : 0));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
