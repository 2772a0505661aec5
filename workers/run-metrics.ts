import type { Counter, Histogram } from 'prom-client';
import type { RunResult } from '../domain/run.ts';
import { firstValues, liveValues } from './label-values.ts';
import { labelLimits, overflowValue } from './metric-catalogue.ts';
import type { MetricMakers } from './metric-makers.ts';

export type RunMetrics = {
  turn(sweep: string): void;
  ended(sweep: string, result: RunResult): void;
  /** Forgets the sweeps that have been still for an hour; to be called before each reading. */
  prune(): void;
};

export type RunMetricsOptions = {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onOverflow: (label: keyof typeof labelLimits) => void;
};

const sweepIdleMs = 3_600_000;
const shownSlowest = 10;

/** What runs come to, by sweep; the series of a sweep leave the page with it. */
export function runMetrics(
  { counter, gauge, histogram }: MetricMakers,
  options: RunMetricsOptions,
): RunMetrics {
  const { now, onOverflow } = options;
  const runs = bySweep(counter('regatta_runs_total'));
  const unhappy = bySweep(counter('regatta_scenario_runs_total'));
  const turns = bySweep(counter('regatta_turns_total'));
  const endings = bySweep(counter('regatta_endings_total'));
  const faults = bySweep(counter('regatta_faults_total'));
  const durations = bySweep(histogram('regatta_run_duration_seconds'));
  const checks = counter('regatta_checks_total');
  const slowest = slowestScenarios();
  const slowestGauge = gauge('regatta_scenario_slowest_seconds');
  const scenarios = scenarioValues(() => onOverflow('scenario'));
  const checkNames = firstValues({ limit: labelLimits.check, onOverflow: () => onOverflow('check') });
  const sweeps = liveValues({
    now,
    limit: labelLimits.sweep,
    idleMs: sweepIdleMs,
    onOverflow: () => onOverflow('sweep'),
    onLeave(sweep) {
      for (const each of [runs, unhappy, turns, endings, faults, durations, scenarios, slowest])
        each.forget(sweep);
    },
  });

  return {
    turn: (name) => turns.of({ sweep: sweeps.admit(name) }).inc(),
    ended(name, result) {
      const sweep = sweeps.admit(name);
      const { outcome, ending, fault, blame } = result;
      const seconds = Math.max(0, result.endedAt - result.startedAt) / 1000;
      runs.of({ sweep, outcome }).inc();
      durations.of({ sweep }).observe(seconds);
      if (sweep !== overflowValue) slowest.saw(sweep, result.scenario, seconds);
      if (ending !== undefined) endings.of({ sweep, ending: ending.kind }).inc();
      if (fault !== undefined) faults.of({ sweep, code: fault.code, blame: blame ?? 'infrastructure' }).inc();
      if (outcome === 'failed' || outcome === 'broken' || outcome === 'undecided')
        unhappy.of({ sweep, scenario: scenarios.admit(sweep, result.scenario), outcome }).inc();
      for (const { check, verdict } of result.checks) checks.inc({ check: checkNames.admit(check), verdict });
    },
    prune() {
      sweeps.prune();
      slowestGauge.reset();
      for (const { sweep, scenario, seconds } of slowest.all())
        slowestGauge.set({ sweep, scenario }, seconds);
    },
  };
}

type SweepLabels = { readonly sweep: string } & Readonly<Record<string, string>>;

/** Remembers which series a sweep has, so that they can be removed with it. */
function bySweep<T extends Counter | Histogram>(metric: T) {
  const series = new Map<string, Map<string, SweepLabels>>();
  return {
    of(labels: SweepLabels) {
      const known = series.get(labels.sweep) ?? new Map<string, SweepLabels>();
      series.set(labels.sweep, known.set(JSON.stringify(labels), labels));
      return metric.labels(labels) as ReturnType<T['labels']>;
    },
    forget(sweep: string): void {
      for (const labels of series.get(sweep)?.values() ?? []) metric.remove(labels);
      series.delete(sweep);
    },
  };
}

/** The first scenarios of the live sweeps, up to the limit. */
function scenarioValues(onOverflow: () => void) {
  const known = new Map<string, Set<string>>();
  let size = 0;
  return {
    admit(sweep: string, scenario: string): string {
      if (sweep === overflowValue) return overflowValue;
      const ofSweep = known.get(sweep) ?? new Set<string>();
      if (ofSweep.has(scenario)) return scenario;
      if (size >= labelLimits.scenario) {
        onOverflow();
        return overflowValue;
      }
      size += 1;
      known.set(sweep, ofSweep.add(scenario));
      return scenario;
    },
    forget(sweep: string): void {
      size -= known.get(sweep)?.size ?? 0;
      known.delete(sweep);
    },
  };
}

/** The ten slowest scenarios of each sweep. */
function slowestScenarios() {
  const known = new Map<string, readonly (readonly [string, number])[]>();
  return {
    saw(sweep: string, scenario: string, seconds: number): void {
      const before = known.get(sweep) ?? [];
      const floor = before.length < shownSlowest ? -1 : (before.at(-1)?.[1] ?? -1);
      if (seconds <= floor) return;
      const own = before.find(([name]) => name === scenario)?.[1] ?? 0;
      const others = before.filter(([name]) => name !== scenario);
      const sorted = [...others, [scenario, Math.max(own, seconds)] as const].sort(([, a], [, b]) => b - a);
      known.set(sweep, sorted.slice(0, shownSlowest));
    },
    forget(sweep: string): void {
      known.delete(sweep);
    },
    all: () =>
      [...known].flatMap(([sweep, list]) =>
        list.map(([scenario, seconds]) => ({ sweep, scenario, seconds })),
      ),
  };
}
