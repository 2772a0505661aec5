import type { CheckSpec } from '../check.ts';
import type { FaultCode } from '../fault.ts';
import type { Verdict } from '../outcome.ts';

/** What a check came to for the whole run, or for one turn. */
export type CheckAnswer = {
  readonly verdict: Verdict;
  /** Absent where undecided. */
  readonly score?: number;
  readonly reason: string;
  readonly faultCode?: FaultCode;
};

/** What was found, before pass mark and `not`. */
export type Finding = { readonly score: number; readonly reason: string };

/** A finding of yes (score 1) or no (score 0). */
export function yesOrNo(yes: boolean, reason: string): Finding {
  return { score: yes ? 1 : 0, reason };
}

/** The score that passes where a check has no pass mark: 1, or the upper end of a judge's scale. */
export function fullScore(check: CheckSpec): number {
  return check.kind === 'judge' && check.answer.kind === 'scale' ? check.answer.to : 1;
}

/** Whether a score reaches the pass marks; `not` is left out of account. */
function reachesMark(check: CheckSpec, score: number): boolean {
  const { atLeast, atMost } = check;
  if (atLeast === undefined && atMost === undefined) return score >= fullScore(check);
  return (atLeast === undefined || score >= atLeast) && (atMost === undefined || score <= atMost);
}

/** The verdict on a score, `not` included: it turns the verdict round and leaves the score as it is. */
export function verdictOn(check: CheckSpec, score: number): 'pass' | 'fail' {
  return reachesMark(check, score) !== check.not ? 'pass' : 'fail';
}

/** The answer that a finding makes. */
export function decide(check: CheckSpec, { score, reason }: Finding): CheckAnswer {
  return { verdict: verdictOn(check, score), score, reason };
}

/** No verdict, and why; with the code of the fault that was the cause, if there was one. */
export function undecided(reason: string, faultCode?: FaultCode): CheckAnswer {
  return { verdict: 'undecided', reason, ...(faultCode === undefined ? {} : { faultCode }) };
}
