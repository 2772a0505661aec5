import type { CheckResult, CheckSpec, TurnScore } from '../check.ts';
import type { Verdict } from '../outcome.ts';
import { type CheckAnswer, verdictOn } from './verdict.ts';

/** What a check came to at one turn. */
export type TurnAnswer = CheckAnswer & { readonly turn: number };

/** One result of the answers turn by turn. A check of which no turn could be asked has failed. */
export function rollUp(check: CheckSpec, answers: readonly TurnAnswer[]): CheckResult {
  const base = { check: check.name, required: check.required };
  const last = answers.at(-1);
  if (last === undefined) return { ...base, verdict: 'fail', reason: 'no turn was completed', turns: [] };
  const verdict = verdictOver(check, answers);
  const telling = tellingAnswer(check, answers, verdict) ?? last;
  const score = verdict === 'undecided' ? undefined : scoreOver(check, answers);
  return {
    ...base,
    verdict,
    ...(score === undefined ? {} : { score }),
    reason: `turn ${telling.turn}: ${telling.reason}`,
    ...(verdict === 'fail' && telling.verdict === 'fail' ? { failedTurn: telling.turn } : {}),
    turns: answers.map(turnScore),
    ...(verdict === 'undecided' && telling.faultCode !== undefined ? { faultCode: telling.faultCode } : {}),
  };
}

function verdictOver(check: CheckSpec, answers: readonly TurnAnswer[]): Verdict {
  const some = (verdict: Verdict) => answers.some((answer) => answer.verdict === verdict);
  switch (check.rollup) {
    case 'any':
      return some('pass') ? 'pass' : some('undecided') ? 'undecided' : 'fail';
    case 'all':
      return some('fail') ? 'fail' : some('undecided') ? 'undecided' : 'pass';
    case 'last':
      return answers.at(-1)?.verdict ?? 'undecided';
    case 'mean': {
      return some('undecided') ? 'undecided' : verdictOn(check, mean(scoresOf(answers)));
    }
  }
}

/** The turn whose reason speaks for the whole: the first with the verdict of all, or the last turn. */
function tellingAnswer(
  check: CheckSpec,
  answers: readonly TurnAnswer[],
  verdict: Verdict,
): TurnAnswer | undefined {
  return check.rollup === 'last' ? answers.at(-1) : answers.find((answer) => answer.verdict === verdict);
}

function scoreOver(check: CheckSpec, answers: readonly TurnAnswer[]): number | undefined {
  const scores = scoresOf(answers);
  if (scores.length === 0) return undefined;
  switch (check.rollup) {
    case 'any':
      return isLowBetter(check) ? Math.min(...scores) : Math.max(...scores);
    case 'all':
      return isLowBetter(check) ? Math.max(...scores) : Math.min(...scores);
    case 'last':
      return answers.at(-1)?.score;
    case 'mean':
      return mean(scores);
  }
}

function isLowBetter(check: CheckSpec): boolean {
  const low = check.atMost !== undefined && check.atLeast === undefined;
  return low !== check.not;
}

function scoresOf(answers: readonly TurnAnswer[]): readonly number[] {
  return answers.flatMap(({ score }) => (score === undefined ? [] : [score]));
}

function mean(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

function turnScore({ turn, verdict, score, reason }: TurnAnswer): TurnScore {
  return { turn, verdict, ...(score === undefined ? {} : { score }), reason };
}
