import { type CheckSpec, isAskedOf, type RunNumber } from './check.ts';
import type { Interval } from './interval.ts';
import { isMissing } from './outcome.ts';
import type { RunPlan, RunResult } from './run.ts';
import type { Metric, MetricSubject } from './threshold.ts';
import { totalUsage } from './usage.ts';

/** A run as planned; the tags are its scenario's. */
export type PlannedRun = RunPlan & { readonly tags: readonly string[] };

/** A planned run and what became of it; without a result it is unplayed. */
export type PlayedRun = { readonly plan: PlannedRun; readonly result?: RunResult };

/** The planned runs with their results; of several generations the highest counts. */
export function pairRuns(planned: readonly PlannedRun[], results: Iterable<RunResult>): readonly PlayedRun[] {
  const byRun = new Map<string, RunResult>();
  for (const result of results) {
    const earlier = byRun.get(result.run);
    if (earlier === undefined || earlier.generation <= result.generation) byRun.set(result.run, result);
  }
  return planned.map((plan) => {
    const result = byRun.get(plan.id);
    return result === undefined ? { plan } : { plan, result };
  });
}

/** What a run says about a metric: its values, or that they are missing, or that it was not asked at all. */
type Observation = readonly number[] | 'missing' | 'not_asked';

/** The identical runs of one scenario (and variant). */
export type Unit = {
  readonly scenario: string;
  readonly values: readonly number[];
  readonly missing: number;
};

/** All that is known of a metric, and what is not. */
export type Sample = {
  readonly units: readonly Unit[];
  /** The least and the most that a missing value can be. */
  readonly ends: Interval;
  readonly knownRuns: number;
  readonly missingRuns: number;
};

/** What is measured of each run: whether it passed, whether it broke, or a score or number. */
function observe(metric: Metric, { plan, result }: PlayedRun, checks: readonly CheckSpec[]): Observation {
  if (metric.kind === 'cost_usd') {
    return result === undefined || result.outcome === 'unplayed'
      ? 'missing'
      : [totalUsage(result.usage).costUsd];
  }
  if (result?.outcome === 'skipped') return 'not_asked';
  switch (metric.kind) {
    case 'pass_rate':
    case 'pass_at':
    case 'pass_hat':
      return observeVerdict(metric.subject, plan, result, checks);
    case 'mean':
    case 'min':
    case 'max':
    case 'percentile':
      return observeValue(metric.subject, plan, result, checks);
    case 'broken_rate':
      return observeBroken(result);
    case 'runs':
      return result === undefined || isMissing(result.outcome) ? 'missing' : [1];
  }
}

function observeBroken(result: RunResult | undefined): Observation {
  if (result === undefined || result.outcome === 'cancelled' || result.outcome === 'unplayed')
    return 'missing';
  return [result.outcome === 'broken' ? 1 : 0];
}

/** Whether a check is asked of a run. */
function isAsked(check: string, plan: PlannedRun, checks: readonly CheckSpec[]): boolean {
  const spec = checks.find(({ name }) => name === check);
  return spec === undefined || isAskedOf(spec, { id: plan.scenario, tags: plan.tags });
}

function observeVerdict(
  subject: MetricSubject,
  plan: PlannedRun,
  result: RunResult | undefined,
  checks: readonly CheckSpec[],
): Observation {
  if (subject.kind === 'check' && !isAsked(subject.check, plan, checks)) return 'not_asked';
  if (result === undefined || isMissing(result.outcome)) return 'missing';
  if (subject.kind !== 'check') {
    return result.outcome === 'undecided' ? 'missing' : [result.outcome === 'passed' ? 1 : 0];
  }
  const verdict = result.checks.find(({ check }) => check === subject.check)?.verdict;
  // A target's own error ends a run before its checks: it has passed none of them.
  if (verdict === undefined && result.ending?.kind === 'target_error') return [0];
  return verdict === undefined || verdict === 'undecided' ? 'missing' : [verdict === 'pass' ? 1 : 0];
}

function observeValue(
  subject: MetricSubject,
  plan: PlannedRun,
  result: RunResult | undefined,
  checks: readonly CheckSpec[],
): Observation {
  if (subject.kind === 'check' && !isAsked(subject.check, plan, checks)) return 'not_asked';
  if (result === undefined || isMissing(result.outcome)) return 'missing';
  switch (subject.kind) {
    case 'number':
      return numbersOf(result, subject.number);
    case 'check': {
      const score = result.checks.find(({ check }) => check === subject.check)?.score;
      return score === undefined ? 'missing' : [score];
    }
    case 'outcome':
      return 'not_asked';
  }
}

/** The values of a number of one run: one, but for `reply_seconds`, where each successful reply counts. */
function numbersOf(result: RunResult, number: RunNumber): readonly number[] {
  switch (number) {
    case 'turns':
      return [result.turns];
    case 'tool_calls':
      return [result.toolCalls];
    case 'reply_seconds':
      return result.replySeconds;
    case 'input_tokens':
      return [totalUsage(result.usage).inputTokens];
    case 'output_tokens':
      return [totalUsage(result.usage).outputTokens];
    case 'cost_usd':
      return [totalUsage(result.usage).costUsd];
  }
}

const unbounded: Interval = [-Infinity, Infinity];

/** The least and the most that a metric's values can be. */
export function endsOf(metric: Metric, checks: readonly CheckSpec[]): Interval {
  switch (metric.kind) {
    case 'pass_rate':
    case 'pass_at':
    case 'pass_hat':
    case 'broken_rate':
    case 'runs':
      return [0, 1];
    case 'cost_usd':
      return unbounded;
    case 'mean':
    case 'min':
    case 'max':
    case 'percentile': {
      const { subject } = metric;
      if (subject.kind !== 'check') return unbounded;
      const spec = checks.find((check) => check.name === subject.check);
      return spec === undefined ? unbounded : scaleOf(spec);
    }
  }
}

/** The ends of a check's scores: its scale, the scores of its choices, else 0 to 1; numbers have none. */
export function scaleOf(check: CheckSpec): Interval {
  if (check.kind === 'number') return unbounded;
  if (check.kind !== 'judge' || check.answer.kind === 'pass_fail') return [0, 1];
  if (check.answer.kind === 'scale') return [check.answer.from, check.answer.to];
  const scores = Object.values(check.answer.scores);
  return [Math.min(...scores), Math.max(...scores)];
}

/**
 * The sample of a metric over runs. A missing run stands for one value, of `reply_seconds` for as many as the run
 * with the most replies has. Scores outside their scale (a code check may return any) make the sample unbounded.
 */
export function sampleOf(metric: Metric, runs: readonly PlayedRun[], checks: readonly CheckSpec[]): Sample {
  const units = new Map<string, { scenario: string; values: number[]; missing: number }>();
  let [knownRuns, missingRuns, most] = [0, 0, 1];
  let [least, greatest] = [Infinity, -Infinity];
  for (const run of runs) {
    const seen = observe(metric, run, checks);
    if (seen === 'not_asked') continue;
    const { scenario, variant } = run.plan;
    const key = JSON.stringify([scenario, variant]);
    const unit = units.get(key) ?? { scenario, values: [], missing: 0 };
    units.set(key, unit);
    if (seen === 'missing') {
      unit.missing += 1;
      missingRuns += 1;
      continue;
    }
    unit.values.push(...seen);
    knownRuns += 1;
    most = Math.max(most, seen.length);
    for (const value of seen) [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
  }
  const [from, to] = endsOf(metric, checks);
  return {
    units: [...units.values()].map((unit) => ({ ...unit, missing: unit.missing * most })),
    ends: least < from || greatest > to ? unbounded : [from, to],
    knownRuns,
    missingRuns,
  };
}
