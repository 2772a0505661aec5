import type { CheckSpec } from './check.ts';
import { verdictWithin, wantsMore } from './comparison.ts';
import { type Interval, twoSidedLevel } from './interval.ts';
import { type Filled, fill, intervalOf, metricValue } from './metric.ts';
import { type PlayedRun, type Sample, sampleOf } from './sample.ts';
import type { GateVerdict, Metric, Threshold } from './threshold.ts';

/** What a threshold came to, over all its runs or over one group of them. */
export type Measured = {
  readonly verdict: GateVerdict;
  /** Over the decided runs alone. */
  readonly value?: number;
  /** Of the value: 95 %, or what `with confidence` says on each side. */
  readonly interval?: Interval;
  /** The value with the missing runs at their worst and at their best; absent where that has no limit. */
  readonly worst?: number;
  readonly best?: number;
  /** Runs that are missing from the value. */
  readonly missing: number;
  readonly reason: string;
};

export type GateFacts = {
  readonly checks: readonly CheckSpec[];
  /** The share of missing runs up to which metrics without limits are decided. */
  readonly allowMissing: number;
};

const shownLevel = 0.95;

/** A number for people: at most four significant digits. */
export function shortNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** Whether a few missing runs are left out of this metric, as nobody can say what they would have been. */
function hasNoLimit(metric: Metric, { ends }: Sample): boolean {
  if (metric.kind === 'cost_usd') return true;
  return (
    (metric.kind === 'mean' || metric.kind === 'min' || metric.kind === 'max') && !Number.isFinite(ends[0])
  );
}

/** The sample with its missing runs at the least and at the most that they can be. */
function extremesOf(metric: Metric, sample: Sample, allowMissing: number): readonly [Filled, Filled] {
  const planned = sample.knownRuns + sample.missingRuns;
  if (hasNoLimit(metric, sample) && sample.missingRuns <= allowMissing * planned) {
    const known = fill(sample, 'nothing');
    return [known, known];
  }
  // What is already spent stays spent.
  return [fill(sample, metric.kind === 'cost_usd' ? 'nothing' : 'least'), fill(sample, 'most')];
}

/** The verdict of a threshold on a sample in which nothing is missing. */
function verdictOf(threshold: Threshold, filled: Filled): GateVerdict {
  const { metric, confidence, comparison, value: bound } = threshold;
  const value = metricValue(metric, filled);
  if (value === undefined) return 'undecided';
  if (confidence === undefined) return verdictWithin([value, value], comparison, bound);
  const interval = intervalOf(metric, filled, twoSidedLevel(confidence));
  return interval === undefined ? 'undecided' : verdictWithin(interval, comparison, bound);
}

/** The best that a threshold can still come to: with every missing run where the threshold wants it. */
export function bestVerdict(threshold: Threshold, sample: Sample): GateVerdict {
  return verdictOf(threshold, fill(sample, wantsMore(threshold.comparison) ? 'most' : 'least'));
}

/** The verdict between two extremes: what both say, else undecided. */
function verdictBetween(threshold: Threshold, least: Filled, most: Filled): GateVerdict {
  const { metric, confidence, comparison, value: bound } = threshold;
  const [low, high] = [metricValue(metric, least), metricValue(metric, most)];
  if (low === undefined || high === undefined) return 'undecided';
  if (confidence === undefined) return verdictWithin([low, high], comparison, bound);
  const verdict = verdictOf(threshold, least);
  return least === most || verdict === verdictOf(threshold, most) ? verdict : 'undecided';
}

/** Bootstraps of thousands of groups would cost minutes and tell little: without a confidence only rates show one. */
function shownInterval(threshold: Threshold, known: Filled): Interval | undefined {
  const { metric, confidence, forEach } = threshold;
  if (confidence !== undefined) return intervalOf(metric, known, twoSidedLevel(confidence));
  const isRate = metric.kind === 'pass_rate' || metric.kind === 'broken_rate';
  return forEach === undefined || isRate ? intervalOf(metric, known, shownLevel) : undefined;
}

function isFinitePair(interval: Interval | undefined): interval is Interval {
  return interval?.every(Number.isFinite) === true;
}

/**
 * What a threshold comes to over some runs, whatever it says about groups. Missing runs count at their worst and at
 * their best; where the verdicts differ it is undecided. Absent where no run was asked.
 */
export function measureThreshold(
  threshold: Threshold,
  runs: readonly PlayedRun[],
  facts: GateFacts,
): Measured | undefined {
  const { metric } = threshold;
  const sample = sampleOf(metric, runs, facts.checks);
  if (sample.knownRuns + sample.missingRuns === 0) return undefined;
  const known = fill(sample, 'nothing');
  const [least, most] = extremesOf(metric, sample, facts.allowMissing);
  const value = metricValue(metric, known);
  const interval = shownInterval(threshold, known);
  const range = [metricValue(metric, least), metricValue(metric, most)];
  const [worst, best] = wantsMore(threshold.comparison) ? range : range.toReversed();
  const measured: Omit<Measured, 'reason'> = {
    verdict: verdictBetween(threshold, least, most),
    missing: sample.missingRuns,
    ...(value === undefined || !Number.isFinite(value) ? {} : { value }),
    ...(isFinitePair(interval) ? { interval } : {}),
    ...(worst === undefined || !Number.isFinite(worst) ? {} : { worst }),
    ...(best === undefined || !Number.isFinite(best) ? {} : { best }),
  };
  return { ...measured, reason: reasonOf(threshold, measured, sample) };
}

const meeting: Readonly<Record<GateVerdict, string>> = {
  open: 'meets',
  shut: 'does not meet',
  undecided: 'may meet or not',
};

/** One sentence for people: the value, what it may be, and what was asked. */
function reasonOf(threshold: Threshold, measured: Omit<Measured, 'reason'>, sample: Sample): string {
  const { metric, comparison, confidence, value: bound } = threshold;
  const { value, interval, verdict } = measured;
  if (metric.kind === 'pass_at' || metric.kind === 'pass_hat') {
    const fewest = fewestRuns(sample);
    if (fewest < metric.k) return `needs ${metric.k} runs of each scenario, one has ${fewest}`;
  }
  const confident = confidence === undefined ? [] : [`with confidence ${shortNumber(confidence * 100)} %`];
  const bounds = interval === undefined ? [] : [`bounds ${interval.map(shortNumber).join(' and ')}`];
  const notes = [...(confidence === undefined ? [] : [...confident, ...bounds]), ...missingNote(measured)];
  const text = `${value === undefined ? 'no value' : shortNumber(value)} ${meeting[verdict]} ${comparison} ${shortNumber(bound)}`;
  return notes.length === 0 ? text : `${text} (${notes.join('; ')})`;
}

/** The fewest runs, missing ones included, of a scenario (and variant). */
export function fewestRuns({ units }: Sample): number {
  return units.reduce((fewest, unit) => Math.min(fewest, unit.values.length + unit.missing), Infinity);
}

function missingNote({ missing, worst, best }: Omit<Measured, 'reason'>): readonly string[] {
  if (missing === 0) return [];
  const text = `${missing} ${missing === 1 ? 'run is' : 'runs are'} missing`;
  if (worst !== undefined && worst === best) return [text];
  const [atWorst, atBest] = [worst, best].map((end) => (end === undefined ? 'no limit' : shortNumber(end)));
  return [`${text}: ${atWorst} at worst, ${atBest} at best`];
}
