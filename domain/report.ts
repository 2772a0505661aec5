import type { CheckSpec } from './check.ts';
import { decideGate } from './gate.ts';
import { type Interval, rateInterval } from './interval.ts';
import { fill, intervalOf, metricValue } from './metric.ts';
import type { OutcomeCounts } from './outcome.ts';
import { type Totals, totalsOf } from './report-totals.ts';
import type { RunResult } from './run.ts';
import { type PlannedRun, type PlayedRun, pairRuns, sampleOf } from './sample.ts';
import { countRuns, runsByScenario, type ScenarioRow, scenarioRow } from './scenario-row.ts';
import type { GateVerdict, Metric, Threshold } from './threshold.ts';
import { evaluateThresholds, type ThresholdResult } from './threshold-result.ts';

export type Halted = { readonly reason: string; readonly detail: string };

/** Which checks judged, in a sentence for people. */
export function checkSetText({ number, hash, file, at }: ReportedCheckSet): string {
  const from = file === null ? '' : ` (${file})`;
  return `Judged by check set ${number}${from} of ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC, ${hash.slice(0, 12)}`;
}

/** Checks that took the place of those of the plan: `number` counts from 1, `hash` is of all of them, `at` epoch milliseconds. */
export type ReportedCheckSet = {
  readonly number: number;
  readonly hash: string;
  readonly file: string | null;
  readonly at: number;
};

export type ReportInput = {
  /** The sweep's id. */
  readonly sweep: string;
  readonly name: string;
  readonly planned: readonly PlannedRun[];
  /** Of several generations of a run the highest counts; `slimResult` saves memory. */
  readonly results: Iterable<RunResult>;
  readonly thresholds: readonly Threshold[];
  readonly checks: readonly CheckSpec[];
  readonly allowMissing: number;
  readonly probeCalls: number;
  readonly cancelled: boolean;
  readonly halted?: Halted;
  /** Absent: the checks are those of the plan. */
  readonly checkSet?: ReportedCheckSet;
};

/** A rate or mean with its 95 % interval; null where nothing was decided. */
export type Estimate = { readonly value: number | null; readonly interval: Interval | null };

export type CheckReport = {
  readonly check: string;
  readonly required: boolean;
  readonly passed: number;
  readonly failed: number;
  /** Runs of which nothing is known: missing ones, and those in which the check is undecided. */
  readonly missing: number;
  readonly pass_rate: Estimate;
  readonly mean_score: number | null;
};

export type ThresholdReport = {
  readonly text: string;
  readonly verdict: GateVerdict;
  readonly value: number | null;
  readonly interval: Interval | null;
  readonly worst: number | null;
  readonly best: number | null;
  readonly missing: number;
  readonly reason: string;
  readonly scenario?: string;
  readonly covered_by?: string;
  readonly groups?: readonly (Omit<ThresholdReport, 'text' | 'scenario' | 'covered_by' | 'groups'> & {
    readonly group: string;
  })[];
};

/** What a sweep came to, in the shape in which it is published: names and meaning stay, fields may be added. */
export type Report = Totals & {
  readonly schema: 1;
  readonly sweep: string;
  readonly name: string;
  readonly gate: GateVerdict;
  readonly gate_reason: string;
  readonly cancelled: boolean;
  readonly halted: Halted | null;
  readonly runs: OutcomeCounts & { readonly planned: number };
  readonly pass_rate: Estimate;
  readonly thresholds: readonly ThresholdReport[];
  readonly checks: readonly CheckReport[];
  /** Which checks judged, where `rejudge` put others in the place of those of the plan; else null. */
  readonly check_set: ReportedCheckSet | null;
  readonly flaky_scenarios: number;
  readonly scenarios: readonly ScenarioRow[];
};

const longestReason = 500;

/** A result with only what reports need: reasons of passed checks and scores of turns left out, long reasons cut. */
export function slimResult(result: RunResult): RunResult {
  return {
    ...result,
    checks: result.checks.map(({ turns: _turns, judgeHash: _hash, reason, ...check }) => ({
      ...check,
      reason: check.verdict === 'pass' ? '' : reason.slice(0, longestReason),
    })),
  };
}

/** The report on a sweep: a pure function of plan and results, which can always be computed again. */
export function buildReport(input: ReportInput): Report {
  const runs = pairRuns(input.planned, input.results);
  const counts = countRuns(runs);
  const thresholds = evaluateThresholds(input.thresholds, runs, input);
  const gate = decideGate(thresholds, counts);
  const scenarios = runsByScenario(runs).flatMap((group) => scenarioRow(group) ?? []);
  return {
    schema: 1,
    sweep: input.sweep,
    name: input.name,
    gate: gate.verdict,
    gate_reason: gate.reason,
    cancelled: input.cancelled,
    halted: input.halted ?? null,
    runs: counts,
    pass_rate: passRate(scenarios),
    thresholds: thresholds.map(thresholdReport),
    // A scenario's own checks show in its row: a line for each turn of each transcript would hide the others.
    checks: input.checks
      .filter(({ forScenario }) => forScenario === undefined)
      .map((check) => checkReport(check, runs, input.checks)),
    check_set: input.checkSet ?? null,
    ...totalsOf(runs, input.probeCalls),
    flaky_scenarios: scenarios.filter(({ flaky }) => flaky).length,
    scenarios,
  };
}

const shownLevel = 0.95;

/** The pass rate over all runs; variants of a scenario vary together. */
function passRate(rows: readonly ScenarioRow[]): Estimate {
  const byScenario = new Map<string, { passes: number; total: number }>();
  let [passed, decided] = [0, 0];
  for (const { scenario, runs } of rows) {
    const count = byScenario.get(scenario) ?? { passes: 0, total: 0 };
    count.passes += runs.passed;
    count.total += runs.passed + runs.failed;
    passed += runs.passed;
    decided += runs.passed + runs.failed;
    byScenario.set(scenario, count);
  }
  const interval = rateInterval([...byScenario.values()], shownLevel) ?? null;
  return { value: decided === 0 ? null : passed / decided, interval };
}

function measuredReport(measured: Omit<ThresholdResult, 'text'>) {
  const { verdict, value, interval, worst, best, missing, reason } = measured;
  return {
    verdict,
    value: value ?? null,
    interval: interval ?? null,
    worst: worst ?? null,
    best: best ?? null,
    missing,
    reason,
  };
}

function thresholdReport(result: ThresholdResult): ThresholdReport {
  const { text, scenario, coveredBy, groups } = result;
  return {
    text,
    ...measuredReport(result),
    ...(scenario === undefined ? {} : { scenario }),
    ...(coveredBy === undefined ? {} : { covered_by: coveredBy }),
    ...(groups === undefined
      ? {}
      : { groups: groups.map(({ group, ...measured }) => ({ group, ...measuredReport(measured) })) }),
  };
}

function checkReport(
  check: CheckSpec,
  runs: readonly PlayedRun[],
  checks: readonly CheckSpec[],
): CheckReport {
  const subject = { kind: 'check', check: check.name } as const;
  const rate: Metric = { kind: 'pass_rate', subject };
  const mean: Metric = { kind: 'mean', subject };
  const sample = sampleOf(rate, runs, checks);
  const known = fill(sample, 'nothing');
  const value = metricValue(rate, known) ?? null;
  const passed = Math.round((value ?? 0) * sample.knownRuns);
  return {
    check: check.name,
    required: check.required,
    passed,
    failed: sample.knownRuns - passed,
    missing: sample.missingRuns,
    pass_rate: { value, interval: intervalOf(rate, known, shownLevel) ?? null },
    mean_score: metricValue(mean, fill(sampleOf(mean, runs, checks), 'nothing')) ?? null,
  };
}
