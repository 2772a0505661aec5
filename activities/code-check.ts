import type { CheckSpec } from '../domain/check.ts';
import { codeAnswer } from '../domain/checks/code-answer.ts';
import { runNumbersOf } from '../domain/checks/numbers.ts';
import type { Question } from '../domain/checks/questions.ts';
import { type CheckAnswer, undecided } from '../domain/checks/verdict.ts';
import { Fault, isConfigurationCode } from '../domain/fault.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { ModuleRef } from '../domain/sweep-spec.ts';
import type { CallOptions, Modules } from './ports.ts';

export type CodeCheckSpec = Extract<CheckSpec, { kind: 'code' }>;

/**
 * Asks a module: its default export, or the one named `check`, gets `{ transcript, scenario, usage, turn? }`. Whatever
 * is wrong with it leaves the check undecided, with the fault's code.
 */
export async function askCode(
  check: CodeCheckSpec,
  { evidence, turn }: Question,
  options: CallOptions,
  modules: Modules,
): Promise<CheckAnswer> {
  const input = {
    transcript: evidence.transcript as unknown as Json,
    scenario: evidence.scenario as unknown as Json,
    usage: runNumbersOf(evidence),
    ...(turn === undefined ? {} : { turn }),
  };
  try {
    return codeAnswer(check, await callExport(check.module, input, options, modules));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return undecided(error.message, error.code);
  }
}

/** The default export, else `check`; where both are missing, what was said of the first. */
async function callExport(
  module: ModuleRef,
  input: JsonObject,
  { signal, timeoutMs }: CallOptions,
  modules: Modules,
): Promise<Json | undefined> {
  const call = (name: string) => modules.call(module, name, input, { signal, timeoutMs, blame: 'judge' });
  try {
    return await call('default');
  } catch (first) {
    if (!(first instanceof Fault) || !isConfigurationCode(first.code)) throw first;
    return call('check').catch((second: unknown) => {
      throw second instanceof Fault && isConfigurationCode(second.code) ? first : second;
    });
  }
}
