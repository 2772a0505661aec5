import { wordHint } from '../../domain/closest.ts';
import { storedJson, textOf } from '../../domain/json.ts';
import type { Scenario } from '../../domain/scenario.ts';
import type { ScriptStep, SweepSpec, TargetSpec } from '../../domain/sweep-spec.ts';
import { UsageError } from '../../domain/usage-error.ts';
import { envNames } from '../../formats/env-references.ts';
import type { SweepFileContent } from '../../formats/sweep-file.ts';

export type Wishes = {
  readonly scenario?: string;
  readonly variant?: string;
  readonly message?: readonly string[];
};

export type Chosen = {
  readonly target: TargetSpec;
  readonly scenario: Scenario;
  readonly script: readonly ScriptStep[];
  /** Names of the environment variables that the target refers to. */
  readonly env: readonly string[];
};

/**
 * Which target is tried, in which scenario, with which messages: those that were given, else what the driver of the
 * sweep would say first as far as that is written, else the scenario's input as text. A target that speaks first is
 * only listened to.
 * @throws UsageError with the closest name for an unknown scenario or variant.
 */
export function chooseDryRun({ spec, scenarios }: SweepFileContent, wishes: Wishes): Chosen {
  const ids = scenarios.map(({ id }) => id);
  const scenario =
    wishes.scenario === undefined ? scenarios[0] : scenarios.find(({ id }) => id === wishes.scenario);
  const target = targetOf(spec, wishes.variant);
  if (target.kind === 'queue') {
    const message = 'a queue target is asked by workflows only';
    throw new UsageError({
      message,
      hint: `its worker serves target_turn on the task queue target.${target.queue}`,
    });
  }
  if (scenario === undefined) {
    const message = `there is no scenario "${wishes.scenario ?? ''}"`;
    throw new UsageError({ message, hint: wordHint(wishes.scenario ?? '', ids) });
  }
  const model = target.kind === 'chat' ? spec.models[target.model] : undefined;
  const written = storedJson([target, model ?? null]);
  return { target, scenario, script: scriptOf(spec, scenario, wishes.message), env: envNames(written) };
}

function targetOf({ targets }: SweepSpec, variant: string | undefined): TargetSpec {
  const [first] = targets;
  const target = variant === undefined ? first : targets.find((candidate) => candidate.variant === variant);
  if (target !== undefined) return target;
  const names = targets.flatMap((candidate) => candidate.variant ?? []);
  throw new UsageError({
    message: `there is no target "${variant ?? ''}"`,
    hint: wordHint(variant ?? '', names),
  });
}

function scriptOf(
  { driver, conversation }: SweepSpec,
  scenario: Scenario,
  messages: readonly string[] | undefined,
): readonly ScriptStep[] {
  if (messages !== undefined) return messages.map(literal);
  if (conversation.first === 'target') return [];
  const first = driver.kind === 'script' ? driver.steps[0] : undefined;
  return [first?.kind === 'say' ? first : literal(textOf(scenario.input))];
}

/** Words of a script are a template: braces of a person's own words are none. */
function literal(text: string): ScriptStep {
  return { kind: 'say', text: text.replaceAll('{', '\\{') };
}
