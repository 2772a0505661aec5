import type { CheckResult, CheckSpec } from '../domain/check.ts';
import { checkSetOf } from '../domain/check-set.ts';
import { checksFor, needsActivity, scoreByRule } from '../domain/checks/questions.ts';
import type { RunResult } from '../domain/run.ts';
import { settleRun } from '../domain/settle.ts';
import { type RunSummary, summaryOf } from './run-work.ts';
import { evidenceOf } from './scoring.ts';
import type { NewEvent, Stretch } from './stretch.ts';

/** Whether a run that is over must be asked about by a model or by user code; a broken or erroneous one needs no asking. */
export function needsScoring(stretch: Stretch): boolean {
  const { ending, broken } = stretch.now();
  return broken === undefined && ending?.kind !== 'target_error' && needsActivity(stretch.plan.sweep.spec);
}

/** Scores, without any call, a run that needs none: its checks by rule, or the fails of a target's own error. */
export async function scoreWithoutCalls(stretch: Stretch): Promise<void> {
  const { ending, broken, checks } = stretch.now();
  if (broken !== undefined || ending === undefined) return;
  const { plan, deps } = stretch;
  const asked = checksFor(plan.sweep.spec.checks, plan.scenario);
  const results =
    ending.kind === 'target_error'
      ? asked.map((check) => failedByTarget(check, ending.detail))
      : scoreByRule(asked, evidenceOf(stretch), deps.compileRegex);
  const fresh = results.filter((result) => !checks.some((known) => known.check === result.check));
  if (fresh.length > 0) await stretch.record(...fresh.map((result): NewEvent => ({ kind: 'check', result })));
}

/** A target's own error fails each check, at the low end of its scale. */
function failedByTarget(check: CheckSpec, detail: string): CheckResult {
  const scale = check.kind === 'judge' && check.answer.kind === 'scale' ? check.answer.from : 0;
  const low = check.kind === 'number' ? {} : { score: scale };
  return {
    check: check.name,
    required: check.required,
    verdict: 'fail',
    ...low,
    reason: `the target broke: ${detail}`,
  };
}

/** Writes the result of a run that is over; another worker's result of the same generation stands. */
export async function settle(
  stretch: Stretch,
  how: { readonly cancelled: boolean; readonly sessionNote?: string },
): Promise<RunSummary> {
  const { plan, deps, input } = stretch;
  const result = settleRun({
    run: plan.run,
    scenario: plan.scenario,
    generation: input.generation,
    journal: stretch.folded(),
    checkSet: checkSetOf(plan.sweep),
    at: deps.clock.now(),
    ...how,
  });
  await stretch.release();
  return summaryOf(await putOnce(stretch, result));
}

async function putOnce(stretch: Stretch, result: RunResult): Promise<RunResult> {
  const { store, meter } = stretch.deps;
  if (await store.putResult(result)) {
    meter.runEnded(stretch.plan.sweep.id, result);
    return result;
  }
  return (await store.readResult(result.run)) ?? result;
}
