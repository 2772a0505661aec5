/** Lower and upper bound. */
export type Interval = readonly [low: number, high: number];

/** Passes among the decided runs of one scenario. */
export type PassCount = { readonly passes: number; readonly total: number };

const halvings = 60;

/** The x in [from, to] at which a rising function reaches a value, by bisection. */
function solve(rising: (x: number) => number, value: number, [from, to]: Interval): number {
  let [low, high] = [from, to];
  for (let step = 0; step < halvings; step += 1) {
    const middle = (low + high) / 2;
    if (rising(middle) < value) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The normal distribution function; error below 1e-15. Series of Abramowitz and Stegun, 26.2.11. */
function normalProbability(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 && n < 500; n += 1) {
    term *= (x * x) / (2 * n + 1);
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/** The quantile of the standard normal distribution for 0 < probability < 1, within 8 standard deviations. */
export function normalQuantile(probability: number): number {
  return solve(normalProbability, probability, [-8, 8]);
}

/** P(|T| < sqrt(freedom) tan(angle)), exact for whole degrees of freedom. Abramowitz and Stegun, 26.7.3 and 26.7.4. */
function tInside(angle: number, freedom: number): number {
  const odd = freedom % 2 === 1;
  const cosSquared = Math.cos(angle) ** 2;
  let term = odd ? Math.cos(angle) : 1;
  let sum = freedom === 1 ? 0 : term;
  for (let n = odd ? 3 : 2; n < freedom; n += 2) {
    term *= ((n - 1) / n) * cosSquared;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

/** Expansion for many degrees of freedom. Abramowitz and Stegun, 26.7.5; from 200 on exact to 9 digits. */
function tExpansion(probability: number, freedom: number): number {
  const x = normalQuantile(probability);
  const first = (x ** 3 + x) / 4;
  const second = (5 * x ** 5 + 16 * x ** 3 + 3 * x) / 96;
  const third = (3 * x ** 7 + 19 * x ** 5 + 17 * x ** 3 - 15 * x) / 384;
  return x + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}

/** The quantile of Student's t for 0 < probability < 1 and a whole number of degrees of freedom from 1 on. */
export function tQuantile(probability: number, freedom: number): number {
  if (probability < 0.5) return -tQuantile(1 - probability, freedom);
  if (freedom >= 200) return tExpansion(probability, freedom);
  const inside = 2 * probability - 1;
  const angle = solve((candidate) => tInside(candidate, freedom), inside, [0, Math.PI / 2]);
  return Math.sqrt(freedom) * Math.tan(angle);
}

/**
 * The score interval of a rate seen in n trials, with the quantile of its distribution. E. B. Wilson, Probable
 * inference, the law of succession, and statistical inference, JASA 22 (1927).
 */
export function wilson(rate: number, n: number, quantile: number): Interval {
  const square = quantile ** 2;
  const middle = rate + square / (2 * n);
  const half = quantile * Math.sqrt((rate * (1 - rate)) / n + square / (4 * n ** 2));
  const scale = 1 + square / n;
  return [
    rate === 0 ? 0 : Math.max(0, (middle - half) / scale),
    rate === 1 ? 1 : Math.min(1, (middle + half) / scale),
  ];
}

/** The quantile on each side of a two-sided interval (level 0 to 1) over a number of scenarios. */
function sideQuantile(scenarios: number, level: number): number {
  const probability = (1 + level) / 2;
  return scenarios === 1 ? normalQuantile(probability) : tQuantile(probability, scenarios - 1);
}

/** Wilson's interval of a mean in 0 to 1 of which only the number of scenarios is known. */
export function scenarioInterval(mean: number, scenarios: number, level: number): Interval {
  return wilson(mean, scenarios, sideQuantile(scenarios, level));
}

/**
 * How many independent runs the runs of S scenarios are worth: rate (1 - rate) over the variance between
 * scenarios (ratio estimator, linearized), from S to the number of runs. L. Kish, Survey Sampling (1965), "design effect".
 */
export function effectiveRuns(counts: readonly PassCount[]): number {
  const scenarios = counts.length;
  const total = counts.reduce((sum, count) => sum + count.total, 0);
  if (scenarios === 1) return total;
  const rate = counts.reduce((sum, count) => sum + count.passes, 0) / total;
  const squares = counts.reduce((sum, count) => sum + (count.passes - count.total * rate) ** 2, 0);
  const variance = ((scenarios / (scenarios - 1)) * squares) / total ** 2;
  if (variance === 0) return scenarios;
  return Math.min(total, Math.max(scenarios, (rate * (1 - rate)) / variance));
}

/**
 * Two-sided interval (level 0 to 1) of a pass rate over scenarios like these: Wilson's with the effective number of
 * runs and the t quantile of S - 1; plain Wilson for one scenario. Absent where no run was decided.
 */
export function rateInterval(counts: readonly PassCount[], level: number): Interval | undefined {
  const decided = counts.filter((count) => count.total > 0);
  if (decided.length === 0) return undefined;
  const total = decided.reduce((sum, count) => sum + count.total, 0);
  const rate = decided.reduce((sum, count) => sum + count.passes, 0) / total;
  return wilson(rate, effectiveRuns(decided), sideQuantile(decided.length, level));
}

/** The level of the two-sided interval whose bounds are each one-sided bounds of a confidence above 0.5. */
export function twoSidedLevel(confidence: number): number {
  return 2 * confidence - 1;
}
