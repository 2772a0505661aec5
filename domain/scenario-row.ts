import type { CheckResult } from './check.ts';
import { noOutcomes, type Outcome, type OutcomeCounts } from './outcome.ts';
import type { RunResult } from './run.ts';
import type { PlayedRun } from './sample.ts';

/** Why a run did not pass: its first failing turn and check, or the fault that broke it. */
export type Failure = {
  readonly run: string;
  readonly outcome: Outcome;
  /** Absent where no check failed: a target's own error, a fault. */
  readonly check?: string;
  /** Absent where the check was asked of the whole conversation. */
  readonly turn?: number;
  readonly reason: string;
};

/** What the repeats of one scenario (and variant) came to. */
export type ScenarioRow = {
  readonly scenario: string;
  readonly variant?: string;
  readonly tags: readonly string[];
  readonly runs: OutcomeCounts & { readonly planned: number };
  /** Some of its identical runs passed, others failed. */
  readonly flaky: boolean;
  /** Of the runs that the driver's judge decided: how many were faithful, 0 to 1; absent where nobody was asked. */
  readonly faithful?: number;
  /** Driver messages that were kept although they left their role. */
  readonly marked_messages: number;
  /** Of the first run that did not pass: failed before undecided before broken. */
  readonly failure?: Failure;
};

/** The first failing turn and check: the earliest turn; checks of the whole conversation come after every turn. */
function firstOf(checks: readonly CheckResult[]): CheckResult | undefined {
  return checks.toSorted((a, b) => (a.failedTurn ?? Infinity) - (b.failedTurn ?? Infinity) || 0)[0];
}

/** What became of a planned run. */
export function outcomeOfRun({ result }: PlayedRun): Outcome {
  return result?.outcome ?? 'unplayed';
}

/** Why a run did not pass; absent where it passed or was skipped. */
export function failureOf({ plan, result }: PlayedRun): Failure | undefined {
  if (result === undefined) return { run: plan.id, outcome: 'unplayed', reason: 'never opened' };
  if (result.outcome === 'passed' || result.outcome === 'skipped') return undefined;
  return { run: plan.id, outcome: result.outcome, ...causeOf(result) };
}

function causeOf(result: RunResult): Omit<Failure, 'run' | 'outcome'> {
  const { fault, ending, outcome } = result;
  if (outcome === 'cancelled') return { reason: 'cancelled' };
  if (outcome === 'unplayed') return { reason: 'never opened' };
  if (fault !== undefined) return { reason: `${fault.code}: ${fault.message}` };
  if (ending?.kind === 'target_error') return { reason: `${ending.code}: ${ending.detail}` };
  const sought = outcome === 'failed' ? 'fail' : 'undecided';
  const check = firstOf(result.checks.filter(({ required, verdict }) => required && verdict === sought));
  if (check !== undefined) {
    const { failedTurn } = check;
    return {
      check: check.check,
      ...(failedTurn === undefined ? {} : { turn: failedTurn }),
      reason: check.reason,
    };
  }
  if (result.faithful?.verdict === 'fail')
    return { reason: `the driver left its brief: ${result.faithful.reason}` };
  return { reason: outcome };
}

const gravest: readonly Outcome[] = ['failed', 'undecided', 'broken', 'cancelled', 'unplayed'];

/** A key of the scenario and variant that a run belongs to. */
export function scenarioKey({ plan }: PlayedRun): string {
  return plan.variant === undefined ? plan.scenario : `${plan.scenario}@${plan.variant}`;
}

/** The runs of each scenario (and variant), in the order of the plan. */
export function runsByScenario(runs: readonly PlayedRun[]): readonly (readonly PlayedRun[])[] {
  const groups = new Map<string, PlayedRun[]>();
  for (const run of runs) {
    const key = scenarioKey(run);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [run]);
    else group.push(run);
  }
  return [...groups.values()];
}

/** How many runs there are, and what they came to. */
export function countRuns(runs: readonly PlayedRun[]): OutcomeCounts & { readonly planned: number } {
  const counts: Record<Outcome, number> = { ...noOutcomes };
  for (const run of runs) counts[outcomeOfRun(run)] += 1;
  return { planned: runs.length, ...counts };
}

/** The run that tells best why a scenario did not pass: the first failed one, else undecided, else broken. */
export function tellingRun(runs: readonly PlayedRun[]): PlayedRun | undefined {
  for (const outcome of gravest) {
    const run = runs.find((candidate) => outcomeOfRun(candidate) === outcome);
    if (run !== undefined) return run;
  }
  return undefined;
}

/** One row for the runs of one scenario (and variant). */
export function scenarioRow(runs: readonly PlayedRun[]): ScenarioRow | undefined {
  const [first] = runs;
  if (first === undefined) return undefined;
  const { scenario, variant, tags } = first.plan;
  const counts = countRuns(runs);
  const judged = runs.flatMap(({ result }) => {
    const verdict = result?.faithful?.verdict;
    return verdict === undefined || verdict === 'undecided' ? [] : [verdict];
  });
  const telling = tellingRun(runs);
  const failure = telling === undefined ? undefined : failureOf(telling);
  return {
    scenario,
    ...(variant === undefined ? {} : { variant }),
    tags,
    runs: counts,
    flaky: counts.passed > 0 && counts.failed > 0,
    ...(judged.length === 0
      ? {}
      : { faithful: judged.filter((verdict) => verdict === 'pass').length / judged.length }),
    marked_messages: runs.reduce((sum, { result }) => sum + (result?.markedMessages ?? 0), 0),
    ...(failure === undefined ? {} : { failure }),
  };
}
