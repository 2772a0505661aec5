import type { CheckSpec } from '../check.ts';
import { isJsonObject, type Json, textOf } from '../json.ts';
import { shorten } from './quote.ts';
import { type CheckAnswer, decide, undecided } from './verdict.ts';

/**
 * What a code check returned: a boolean, a number, or `{ score?, pass?, reason? }` with at least one of the first two;
 * `pass` (or `passed`, with `reasoning`) beats the pass marks. Anything else leaves the check undecided (`module_error`).
 */
export function codeAnswer(check: CheckSpec, returned: Json | undefined): CheckAnswer {
  const { score, pass, reason } = fieldsOf(returned);
  if (pass !== undefined) {
    const verdict = pass !== check.not ? 'pass' : 'fail';
    return {
      verdict,
      score: score ?? (pass ? 1 : 0),
      reason: reason ?? `the code said ${pass ? 'pass' : 'fail'}`,
    };
  }
  if (score !== undefined) return decide(check, { score, reason: reason ?? `the code scored ${score}` });
  const seen = returned === undefined ? 'nothing' : shorten(textOf(returned));
  return undecided(
    `the code returned ${seen}; expected a boolean, a number or { score, pass, reason }`,
    'module_error',
  );
}

type Fields = { readonly score?: number; readonly pass?: boolean; readonly reason?: string };

function fieldsOf(returned: Json | undefined): Fields {
  if (typeof returned === 'boolean') return { score: returned ? 1 : 0 };
  if (typeof returned === 'number') return { score: returned };
  if (!isJsonObject(returned)) return {};
  const { score } = returned;
  const pass = returned.pass ?? returned.passed;
  const reason = returned.reason ?? returned.reasoning;
  return {
    ...(typeof score === 'number' ? { score } : typeof score === 'boolean' ? { score: score ? 1 : 0 } : {}),
    ...(typeof pass === 'boolean' ? { pass } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
  };
}
