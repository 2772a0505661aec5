import { type CheckResult, type CheckSpec, isAskedOf } from '../check.ts';
import { drivingModelOf } from '../faithful.ts';
import type { Scenario } from '../scenario.ts';
import type { SweepSpec } from '../sweep-spec.ts';
import { completedTurns, type Evidence, evidenceAt } from './evidence.ts';
import { rollUp, type TurnAnswer } from './rollup.ts';
import { type Compile, evaluateCheck, isRule } from './rule.ts';
import { type CheckAnswer, undecided } from './verdict.ts';

/** A check, asked once: of the whole run, or of one turn. */
export type Question = { readonly check: CheckSpec; readonly turn?: number; readonly evidence: Evidence };

/** The checks that are asked of a scenario. */
export function checksFor(checks: readonly CheckSpec[], scenario: Scenario): readonly CheckSpec[] {
  return checks.filter((check) => isAskedOf(check, scenario));
}

/** Whether scoring a run of this sweep takes a model or user code; else `scoreByRule` does. */
export function needsActivity(spec: Pick<SweepSpec, 'checks' | 'driver'>): boolean {
  return drivingModelOf(spec.driver)?.faithful !== undefined || !spec.checks.every(isRule);
}

/** The questions of a check: one a completed turn that it is asked at, or one for the run. */
export function questionsOf(check: CheckSpec, evidence: Evidence): readonly Question[] {
  if (check.at === 'end') return [{ check, evidence }];
  const turns = completedTurns(evidence.transcript);
  return (check.at === 'each_turn' ? turns : turns.filter((turn) => turn === check.at)).map((turn) => ({
    check,
    turn,
    evidence: evidenceAt(evidence, turn),
  }));
}

/** The result of a check from the answers to its questions, in their order. `judgeHash` is kept where given. */
export function resultOf(
  check: CheckSpec,
  answers: readonly { readonly turn?: number; readonly answer: CheckAnswer }[],
  judgeHash?: string,
): CheckResult {
  const turns = answers.map(({ turn = 0, answer }) => ({ ...answer, turn }));
  const result = plainOrRolledUp(check, turns);
  return { ...result, ...(judgeHash === undefined ? {} : { judgeHash }) };
}

function plainOrRolledUp(check: CheckSpec, turns: readonly TurnAnswer[]): CheckResult {
  if (check.at === 'each_turn') return rollUp(check, turns);
  if (check.at === 'end') return plainResult(check, answerIn(turns[0]));
  const answer =
    answerIn(turns[0]) ?? ({ verdict: 'fail', reason: `turn ${check.at} was not played` } as const);
  const isOfTurn = turns.length > 0 && answer.verdict === 'fail';
  return { ...plainResult(check, answer), ...(isOfTurn ? { failedTurn: check.at } : {}) };
}

function answerIn(answered: TurnAnswer | undefined): CheckAnswer | undefined {
  if (answered === undefined) return undefined;
  const { turn: _turn, ...answer } = answered;
  return answer;
}

/** The result of one answer. */
export function plainResult(
  check: CheckSpec,
  answer: CheckAnswer = undecided('it was not asked'),
): CheckResult {
  return { check: check.name, required: check.required, ...answer };
}

/** The results of all checks of a run that has only checks by rule. */
export function scoreByRule(
  checks: readonly CheckSpec[],
  evidence: Evidence,
  compile: Compile,
): readonly CheckResult[] {
  return checksFor(checks, evidence.scenario)
    .filter(isRule)
    .map((check) => {
      const questions = questionsOf(check, evidence);
      return resultOf(
        check,
        questions.map((asked) => ({ ...asked, answer: evaluateCheck(check, asked.evidence, compile) })),
      );
    });
}
