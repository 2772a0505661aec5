import { type CheckSpec, isAskedOf } from './check.ts';
import { faithfulCheckOf } from './faithful.ts';
import { canonicalJson, storedJson } from './json.ts';
import { isScored, outcomeOf } from './outcome.ts';
import type { RunResult } from './run.ts';
import { faithfulCheck } from './settle.ts';
import type { DriverSpec, ModelSpec } from './sweep-spec.ts';
import type { Threshold } from './threshold.ts';

/** What a check asks, with all that its answers depend on. */
export type Questionnaire = {
  readonly checks: readonly CheckSpec[];
  readonly models: Readonly<Record<string, ModelSpec>>;
};

/** Checks and thresholds that took the place of those that a sweep was planned with, over conversations as they were. */
export type CheckSet = Questionnaire & {
  readonly schema: 1;
  /** Counted from 1; 0 stands for what the sweep was planned with. */
  readonly number: number;
  readonly thresholds: readonly Threshold[];
  /** Names of the environment variables that judging by this set takes. */
  readonly env: readonly string[];
  /** SHA-256 of checks, thresholds and models. */
  readonly hash: string;
  /** Names of the checks that ask the same as in the set before: their answers stand. */
  readonly kept: readonly string[];
  /** What judging a run is estimated to cost, in USD. */
  readonly estimateUsd: number;
  readonly created: {
    readonly at: number;
    readonly regatta: string;
    readonly by?: string;
    /** The file that it was written in. */
    readonly file?: string;
  };
};

/** What has check sets: the plan of a sweep, as far as this file is concerned. */
type Judged = {
  readonly spec: Questionnaire & { readonly driver: DriverSpec };
  readonly checkSets?: readonly CheckSet[];
};

/** The number of the check set by which a sweep is judged now; 0 is what it was planned with. */
export function checkSetOf({ checkSets }: { readonly checkSets?: readonly CheckSet[] }): number {
  return checkSets?.at(-1)?.number ?? 0;
}

/** The names of checks (that of the driver's judge among them) which ask in both what they ask in the other. */
export function keptChecks(before: Judged['spec'], after: Questionnaire): readonly string[] {
  const earlier = new Map(questionsOf(before, before.driver));
  return questionsOf(after, before.driver)
    .filter(([name, asked]) => earlier.get(name) === asked)
    .map(([name]) => name);
}

function questionsOf({ checks, models }: Questionnaire, driver: DriverSpec) {
  const faithful = faithfulCheckOf(driver);
  return [...checks, ...(faithful === undefined ? [] : [faithful])].map((check) => {
    const asked = { check, model: check.kind === 'judge' ? models[check.model] : undefined };
    return [check.name, canonicalJson(storedJson(asked))] as const;
  });
}

/** Whether an answer that was given under a check set (0: as planned) still answers the check of that name. */
export function stillAnswers(checkSets: readonly CheckSet[], since: number, check: string): boolean {
  return checkSets.every(({ number, kept }) => number <= since || kept.includes(check));
}

/**
 * A result as the newest check set sees it: where a run was judged by an earlier one, the answers that still stand are
 * kept and the other checks are undecided. What never was judged, or failed by the target's own error, is as it was.
 */
export function resultNow(result: RunResult, { spec, checkSets = [] }: Judged): RunResult {
  const since = result.checkSet ?? 0;
  if (since >= checkSetOf({ checkSets }) || !isScored(result.outcome)) return result;
  const checks = spec.checks
    .filter((check) => isAskedOf(check, { id: result.scenario, tags: result.tags }))
    .map(({ name, required }) => {
      const answered = result.checks.find(({ check }) => check === name);
      if (answered !== undefined && stillAnswers(checkSets, since, name)) return answered;
      return { check: name, required, verdict: 'undecided', reason: 'not judged by this check yet' } as const;
    });
  const { faithful, blame: _blame, ...kept } = result;
  const isFaithfulKnown = stillAnswers(checkSets, since, faithfulCheck);
  return {
    ...kept,
    ...(faithful === undefined || !isFaithfulKnown ? {} : { faithful }),
    checks,
    ...outcomeOf(checks, {
      targetError: result.ending?.kind === 'target_error',
      driverUnfaithful: isFaithfulKnown && faithful?.verdict === 'fail',
    }),
  };
}

/** A sweep's plan with the check sets that came after it: the last one's checks, thresholds and models hold. */
export function withCheckSets<
  T extends Judged & {
    readonly spec: { readonly env: readonly string[]; readonly thresholds: readonly Threshold[] };
  },
>(plan: T, checkSets: readonly CheckSet[]): T {
  const last = checkSets.at(-1);
  if (last === undefined) return plan;
  const { checks, thresholds, models } = last;
  const env = [...new Set([...plan.spec.env, ...checkSets.flatMap((set) => set.env)])].sort();
  return { ...plan, spec: { ...plan.spec, checks, thresholds, models, env }, checkSets };
}
