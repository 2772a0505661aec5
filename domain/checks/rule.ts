import type { CheckSpec } from '../check.ts';
import { renderJson, renderText, TemplateError } from '../template.ts';
import { toolCallsOf } from '../transcript.ts';
import { UsageError } from '../usage-error.ts';
import { checkVariables, type Evidence, messagesAsked } from './evidence.ts';
import { findNumber } from './numbers.ts';
import { findEqual, findJson, findParts, findSimilar, textsSeen } from './text.ts';
import { findCalls, findCallWithArgs, findFewCalls, findNoCalls } from './tool-calls.ts';
import { type CheckAnswer, decide, type Finding, undecided } from './verdict.ts';

/** A check that needs neither a model nor user code. */
export type RuleCheck = Exclude<CheckSpec, { readonly kind: 'judge' } | { readonly kind: 'code' }>;

/** Compiles a pattern; throws `UsageError` where it cannot. */
export type Compile = (
  pattern: string,
  flags: { readonly ignoreCase: boolean },
) => { test(text: string): boolean };

/** Whether a check is answered by rule alone. */
export function isRule(check: CheckSpec): check is RuleCheck {
  return check.kind !== 'judge' && check.kind !== 'code';
}

/**
 * Answers a check by rule. A template or a pattern that does not fit this row leaves it undecided (`invalid_request`):
 * the target is not to blame.
 */
export function evaluateCheck(check: RuleCheck, evidence: Evidence, compile: Compile): CheckAnswer {
  try {
    return decide(check, find(check, evidence, compile));
  } catch (error) {
    if (error instanceof TemplateError || error instanceof UsageError) {
      return undecided(error.message, 'invalid_request');
    }
    throw error;
  }
}

function find(check: RuleCheck, evidence: Evidence, compile: Compile): Finding {
  const variables = checkVariables(evidence);
  const render = (text: string) => renderText(text, variables);
  const seen = textsSeen(evidence, check.sees);
  const calls = toolCallsOf(messagesAsked(evidence));
  switch (check.kind) {
    case 'contains_any':
    case 'contains_all': {
      const fold = (text: string) => (check.caseSensitive ? text : text.toLowerCase());
      const wanted = {
        verb: 'contains',
        all: check.kind === 'contains_all',
        parts: check.texts.map(render),
      } as const;
      return findParts(seen, wanted, (text, part) => fold(text).includes(fold(part)));
    }
    case 'matches_any':
    case 'matches_all': {
      const parts = check.patterns.map(render);
      const compiled = new Map(
        parts.map((part) => [part, compile(part, { ignoreCase: !check.caseSensitive })]),
      );
      const wanted = { verb: 'matches', all: check.kind === 'matches_all', parts } as const;
      return findParts(seen, wanted, (text, part) => compiled.get(part)?.test(text) === true);
    }
    case 'equals':
      return findEqual(seen, render(check.text));
    case 'is_json':
      return findJson(seen);
    case 'levenshtein':
      return findSimilar(seen, render(check.text));
    case 'calls_include':
      return findCalls(calls, check.tools.map(render), check.ordered);
    case 'calls_exclude':
      return findNoCalls(calls, check.tools.map(render));
    case 'call_args':
      return findCallWithArgs(calls, {
        ...check,
        tool: render(check.tool),
        args: renderJson(check.args, variables),
      });
    case 'max_calls':
      return findFewCalls(calls, check.max, check.tool === undefined ? undefined : render(check.tool));
    case 'number':
      return findNumber(check, evidence);
  }
}
