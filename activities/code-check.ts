import type { CheckSpec } from '../domain/check.ts';
import { codeAnswer } from '../domain/checks/code-answer.ts';
import { messagesAsked } from '../domain/checks/evidence.ts';
import { runNumbersOf } from '../domain/checks/numbers.ts';
import type { Question } from '../domain/checks/questions.ts';
import { type CheckAnswer, undecided } from '../domain/checks/verdict.ts';
import { Fault, isConfigurationCode } from '../domain/fault.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import { uniform } from '../domain/random.ts';
import type { NextTry } from '../domain/retry-policy.ts';
import { historyOf, toolCallsOf } from '../domain/transcript.ts';
import type { CallOptions, Modules } from './ports.ts';
import type { Scoring, ScoringDependencies } from './score.ts';
import { nextScoringTry, waitWithin } from './scoring-wait.ts';

export type CodeCheckSpec = Extract<CheckSpec, { kind: 'code' }>;

/**
 * Asks a module: its default export, or the one named `check`, gets `{ transcript, scenario, usage, turn? }`. Whatever
 * is wrong with it leaves the check undecided, with the fault's code; only a module whose thread went down under it is
 * tried again. Returns the milliseconds to wait where it must be asked later.
 */
export async function askCode(
  check: CodeCheckSpec,
  question: Question,
  scoring: Scoring,
  deps: Pick<ScoringDependencies, 'modules' | 'clock'>,
): Promise<CheckAnswer | number> {
  const input = check.asks === 'evaluate' ? turnContextOf(question) : inputOf(question);
  for (let tries = 1; ; tries += 1) {
    if (scoring.leaving()) return 0;
    try {
      return codeAnswer(check, await callExport(check, input, scoring.options, deps.modules));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const next = nextCall(check, question, error, tries);
      if (next.kind === 'final') return undecided(error.message, error.code);
      const left = await waitWithin(scoring, next.waitMs, deps.clock);
      if (left !== undefined) return left;
    }
  }
}

function inputOf({ evidence, turn }: Question): JsonObject {
  return {
    transcript: evidence.transcript as unknown as Json,
    scenario: evidence.scenario as unknown as Json,
    usage: runNumbersOf(evidence),
    ...(turn === undefined ? {} : { turn }),
  };
}

/** What an evaluator gets: the turn, and the chat up to its user message, that included. */
function turnContextOf({ evidence, turn }: Question): JsonObject {
  const messages = messagesAsked(evidence);
  return {
    user: messages.findLast(({ by }) => by === 'driver')?.text ?? '',
    reply: messages.findLast(({ by }) => by === 'target')?.text ?? '',
    tool_calls: toolCallsOf(messages).map(({ name, args }) => ({ name, args: args ?? null })),
    history: historyOf(
      evidence.transcript.filter((message) => message.by === 'driver' || message.turn !== turn),
    ),
  };
}

/** A check that takes too long would take too long again; one that was hit by another's end may well do better. */
function nextCall({ name }: CodeCheckSpec, { evidence }: Question, fault: Fault, tries: number): NextTry {
  if (fault.code !== 'unavailable') return { kind: 'final' };
  return nextScoringTry(fault, { tries }, uniform(evidence.run.seed, `code wait:${name}`, tries));
}

/** The function `evaluate`, or the default export, else `check`; where both are missing, what was said of the first. */
async function callExport(
  { module, asks }: CodeCheckSpec,
  input: JsonObject,
  { signal, timeoutMs }: CallOptions,
  modules: Modules,
): Promise<Json | undefined> {
  const call = (name: string) => modules.call(module, name, input, { signal, timeoutMs, blame: 'judge' });
  if (asks !== undefined) return call(asks);
  try {
    return await call('default');
  } catch (first) {
    if (!(first instanceof Fault) || !isConfigurationCode(first.code)) throw first;
    return call('check').catch((second: unknown) => {
      throw second instanceof Fault && isConfigurationCode(second.code) ? first : second;
    });
  }
}
