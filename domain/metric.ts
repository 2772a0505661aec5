import { bootstrapInterval } from './bootstrap.ts';
import { passAtK, passHatK, percentileOf } from './estimators.ts';
import { type Interval, normalQuantile, rateInterval, scenarioInterval, wilson } from './interval.ts';
import type { Sample } from './sample.ts';
import type { Metric } from './threshold.ts';

/** What is put in the place of missing values: nothing, or the least or the most that they can be. */
export type Filling = 'nothing' | 'least' | 'most';

/** The values of the identical runs of one scenario (and variant). */
type Values = readonly number[];

/** What varies together: all runs of one scenario. */
type Cluster = readonly Values[];

/** A sample in which nothing is missing any more. */
export type Filled = { readonly clusters: readonly Cluster[]; readonly ends: Interval };

/** Puts something in the place of the missing values, and brings the units of each scenario together. */
export function fill(sample: Sample, filling: Filling): Filled {
  const clusters = new Map<string, Values[]>();
  for (const unit of sample.units) {
    const extra = filling === 'nothing' ? 0 : unit.missing;
    const values = unit.values.concat(new Array<number>(extra).fill(sample.ends[filling === 'most' ? 1 : 0]));
    if (values.length === 0) continue;
    const cluster = clusters.get(unit.scenario);
    if (cluster === undefined) clusters.set(unit.scenario, [values]);
    else cluster.push(values);
  }
  return { clusters: [...clusters.values()], ends: sample.ends };
}

/** A metric of one cluster as a numerator and a denominator, which add up over clusters. */
type Part = { readonly numerator: number; readonly denominator: number };

function sum(values: Values): number {
  return values.reduce((total, value) => total + value, 0);
}

function poolOf(cluster: Cluster): Part {
  return { numerator: sum(cluster.map(sum)), denominator: sum(cluster.map((values) => values.length)) };
}

/** Absent where a unit has fewer than k runs. */
function passPartOf(
  metric: Metric & { readonly kind: 'pass_at' | 'pass_hat' },
  cluster: Cluster,
): Part | undefined {
  const estimate = metric.kind === 'pass_at' ? passAtK : passHatK;
  let numerator = 0;
  for (const values of cluster) {
    const chance = estimate(sum(values), values.length, metric.k);
    if (chance === undefined) return undefined;
    numerator += chance;
  }
  return { numerator, denominator: cluster.length };
}

function ratioOf(parts: readonly Part[], weights?: readonly number[]): number | undefined {
  let [numerator, denominator] = [0, 0];
  for (const [index, part] of parts.entries()) {
    const weight = weights?.[index] ?? 1;
    // An infinite part that was not drawn must not turn the sum into NaN.
    if (weight === 0) continue;
    numerator += weight * part.numerator;
    denominator += weight * part.denominator;
  }
  return denominator === 0 ? undefined : numerator / denominator;
}

/** A metric's parts by cluster, where it has such parts; absent where it cannot be computed. */
function partsOf(metric: Metric, clusters: readonly Cluster[]): readonly Part[] | undefined {
  if (metric.kind !== 'pass_at' && metric.kind !== 'pass_hat') return clusters.map(poolOf);
  const parts = clusters.map((cluster) => passPartOf(metric, cluster)).filter((part) => part !== undefined);
  return parts.length === clusters.length ? parts : undefined;
}

type Placed = { readonly value: number; readonly cluster: number };

function ascendingOf(clusters: readonly Cluster[]): readonly Placed[] {
  const placed = clusters.flatMap((values, cluster) => values.flat().map((value) => ({ value, cluster })));
  return placed.sort((a, b) => a.value - b.value);
}

/** The value of a metric; absent where there is nothing to take it over, or k is more than the runs of a scenario. */
export function metricValue(metric: Metric, { clusters }: Filled): number | undefined {
  if (metric.kind === 'cost_usd' || metric.kind === 'runs') return sum(clusters.flat().map(sum));
  if (clusters.length === 0) return undefined;
  switch (metric.kind) {
    case 'pass_rate':
    case 'broken_rate':
    case 'mean':
    case 'pass_at':
    case 'pass_hat': {
      const parts = partsOf(metric, clusters);
      return parts === undefined ? undefined : ratioOf(parts);
    }
    case 'percentile':
      return percentileOf(ascendingOf(clusters), metric.percent);
    case 'min':
      return clusters.flat(2).reduce((least, value) => Math.min(least, value), Infinity);
    case 'max':
      return clusters.flat(2).reduce((most, value) => Math.max(most, value), -Infinity);
  }
}

/**
 * Two-sided interval (level 0 to 1) of a metric over scenarios like these: rates by `rateInterval`, pass@k, pass^k,
 * mean and percentiles by the bootstrap over scenarios; one scenario alone: over its runs. Absent for min, max,
 * cost_usd and runs, and where there is too little to vary.
 */
export function intervalOf(metric: Metric, filled: Filled, level: number): Interval | undefined {
  const { clusters } = filled;
  switch (metric.kind) {
    case 'pass_rate':
    case 'broken_rate': {
      const parts = clusters.map(poolOf);
      return rateInterval(
        parts.map(({ numerator, denominator }) => ({ passes: numerator, total: denominator })),
        level,
      );
    }
    case 'pass_at':
    case 'pass_hat': {
      const only = clusters.length === 1 ? clusters[0] : undefined;
      if (only === undefined) return resample(metric, filled, level);
      const [values] = only;
      if (only.length > 1 || values === undefined)
        return resample(metric, { ...filled, clusters: only.map((unit) => [unit]) }, level);
      return powerInterval(metric, values, level);
    }
    case 'mean':
    case 'percentile': {
      const only = clusters.length === 1 ? clusters[0] : undefined;
      const runs = only?.flat().map((value) => [[value]]);
      return resample(metric, runs === undefined ? filled : { ...filled, clusters: runs }, level);
    }
    case 'min':
    case 'max':
    case 'cost_usd':
    case 'runs':
      return undefined;
  }
}

/** Of one scenario, pass^k is the k-th power of its pass rate, so that the rate's plain interval carries over. */
function powerInterval(
  metric: Metric & { readonly kind: 'pass_at' | 'pass_hat' },
  values: Values,
  level: number,
): Interval | undefined {
  if (metric.k > values.length) return undefined;
  const [low, high] = wilson(sum(values) / values.length, values.length, normalQuantile((1 + level) / 2));
  if (metric.kind === 'pass_hat') return [low ** metric.k, high ** metric.k];
  return [1 - (1 - low) ** metric.k, 1 - (1 - high) ** metric.k];
}

const bootstrapSeed = 1;

function resample(metric: Metric, { clusters, ends }: Filled, level: number): Interval | undefined {
  if (clusters.length < 2) return undefined;
  const options = { units: clusters.length, level, seed: bootstrapSeed };
  if (metric.kind === 'percentile') {
    const ascending = ascendingOf(clusters);
    return bootstrapInterval(
      (weights) => percentileOf(ascending, metric.percent, ({ cluster }) => weights[cluster] ?? 0),
      { ...options, work: ascending.length },
    );
  }
  const parts = partsOf(metric, clusters);
  if (parts === undefined) return undefined;
  const interval = bootstrapInterval((weights) => ratioOf(parts, weights), options);
  return interval === undefined ? undefined : widenPoint(interval, ends, { units: clusters.length, level });
}

/**
 * Scenarios that are all alike tell the bootstrap that nothing can vary, however few they are; where the scale has
 * ends, Wilson's interval for so many scenarios says what they really show.
 */
function widenPoint(
  interval: Interval,
  [from, to]: Interval,
  { units, level }: { units: number; level: number },
): Interval {
  const width = to - from;
  const [lowest, highest] = interval;
  // Sums of equal scores may differ in their last digits.
  if (!Number.isFinite(width) || width === 0 || highest - lowest > width * 1e-9) return interval;
  const mean = Math.min(1, Math.max(0, (lowest - from) / width));
  const [low, high] = scenarioInterval(mean, units, level);
  return [from + low * width, from + high * width];
}
