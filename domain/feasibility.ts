import type { CheckSpec } from './check.ts';
import { meets, wantsMore } from './comparison.ts';
import { scenarioInterval, twoSidedLevel } from './interval.ts';
import { bestVerdict, fewestRuns, shortNumber } from './measure.ts';
import { type Filled, fill, intervalOf, metricValue } from './metric.ts';
import { type PlannedRun, type PlayedRun, type Sample, sampleOf } from './sample.ts';
import type { Threshold } from './threshold.ts';
import { groupRuns } from './threshold-result.ts';
import type { Mistake } from './usage-error.ts';

/**
 * Whether the planned runs could open a threshold if all went as well as can be; if not, a mistake that names what
 * the threshold needs: repeats, scenarios, runs, or another value.
 */
export function thresholdFeasible(
  threshold: Threshold,
  planned: readonly PlannedRun[],
  checks: readonly CheckSpec[],
): Mistake | undefined {
  const runs: readonly PlayedRun[] = planned.map((plan) => ({ plan }));
  const samples = [...groupRuns(threshold, runs)]
    .map(([group, members]) => ({ group, sample: sampleOf(threshold.metric, members, checks) }))
    .filter(({ sample }) => sample.missingRuns > 0);
  if (samples.length === 0) return mistake(threshold, 'it is about no planned run', selectionHint(threshold));
  for (const { group, sample } of samples) {
    const problem = problemOf(threshold, sample);
    if (problem !== undefined)
      return mistake(threshold, `${group === '' ? '' : `${group}: `}${problem[0]}`, problem[1]);
  }
  return undefined;
}

function mistake({ text, scenario }: Threshold, problem: string, hint: string | undefined): Mistake {
  const of = scenario === undefined ? '' : ` of ${scenario}`;
  const message = `threshold "${text}"${of} can never open: ${problem}`;
  return hint === undefined ? { message } : { message, hint };
}

function selectionHint({ whereTag, forEach }: Threshold): string | undefined {
  if (whereTag !== undefined) return `no planned scenario has the tag "${whereTag}"`;
  return forEach === 'tag' ? 'no planned scenario has a tag' : undefined;
}

type Problem = readonly [problem: string, hint: string | undefined];

function problemOf(threshold: Threshold, sample: Sample): Problem | undefined {
  const { metric, comparison, confidence, value: bound } = threshold;
  if (metric.kind === 'pass_at' || metric.kind === 'pass_hat') {
    const runs = fewestRuns(sample);
    if (runs < metric.k)
      return [`${metric.k} repeats are needed, ${runs} planned`, `set repeats to ${metric.k} or more`];
  }
  // What has no limit has no best either, and equality has no better side.
  const best = metricValue(metric, fill(sample, wantsMore(comparison) ? 'most' : 'least'));
  const isBounded = Number.isFinite(sample.ends[0]) && comparison !== '==' && comparison !== '!=';
  if (!isBounded || best === undefined || bestVerdict(threshold, sample) === 'open') return undefined;
  if (!meets(best, comparison, bound)) {
    return [`the best value is ${shortNumber(best)}`, undefined];
  }
  return confidence === undefined ? undefined : confidenceProblem(threshold, sample, confidence);
}

function confidenceProblem(threshold: Threshold, sample: Sample, confidence: number): Problem {
  const scenarios = new Set(sample.units.map((unit) => unit.scenario)).size;
  const isOne = scenarios === 1;
  const [unit, planned] = isOne ? ['repeats', sample.missingRuns] : ['scenarios', scenarios];
  const needed = neededFor(threshold, sample, { level: twoSidedLevel(confidence), isOne });
  const sure = `${shortNumber(confidence * 100)} %`;
  return [
    `even if all goes well, ${planned} ${unit} cannot show it with confidence ${sure}`,
    needed === undefined ? 'no number of runs can show it' : `it needs ${needed} ${unit}`,
  ];
}

type Search = { readonly level: number; readonly isOne: boolean };

const mostSearched = 1_000_000;

/** The least number of perfect scenarios (or of repeats of the only scenario) whose bound meets the threshold. */
function neededFor(threshold: Threshold, sample: Sample, search: Search): number | undefined {
  const opens = (count: number) => perfectOpens(threshold, sample, { ...search, count });
  let [low, high] = [1, 2];
  while (!opens(high)) {
    if (high >= mostSearched) return undefined;
    [low, high] = [high, high * 2];
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (opens(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Whether so many scenarios (or repeats), all at their best, open a threshold with confidence. */
function perfectOpens(
  { metric, comparison, value: bound }: Threshold,
  { ends }: Sample,
  { level, isOne, count }: Search & { readonly count: number },
): boolean {
  const isMore = wantsMore(comparison);
  const [from, to] = ends;
  const isOfPasses = metric.kind !== 'mean';
  const repeats: Filled = { clusters: [[new Array<number>(count).fill(isMore ? to : from)]], ends };
  const share =
    isOne && isOfPasses ? intervalOf(metric, repeats, level) : scenarioInterval(isMore ? 1 : 0, count, level);
  if (share === undefined) return false;
  const [low, high] = isOfPasses ? share : share.map((part) => from + part * (to - from));
  const decisive = isMore ? low : high;
  return decisive !== undefined && meets(decisive, comparison, bound);
}
