import { wordHint } from './closest.ts';
import { isJsonObject, type Json } from './json.ts';
import type { Scenario } from './scenario.ts';
import { pathsOf, type TemplatePath, type Variables } from './template.ts';

/** Where a template stands. */
export type TemplatePlace = 'driver' | 'chat_target' | 'http_target' | 'check';

const ofScenario = [
  'input',
  'scenario_input',
  'expected',
  'result',
  'scenario_result',
  'meta',
  'repeat',
  'seed',
] as const;
const ofConversation = [...ofScenario, 'message_history', 'latest_message'] as const;
const ofSession = [...ofConversation, 'session_id', 'run_id', 'turn'] as const;

/**
 * Which variable exists where; beside these, everywhere, the top-level keys of the scenario's input.
 * Checks have no `access_token`: it is a secret that is in no journal and goes to no judge.
 */
export const templateVariables = {
  driver: ofScenario,
  chat_target: ofConversation,
  http_target: [...ofSession, 'access_token'],
  check: [...ofSession, 'reply', 'transcript', 'tool_calls', 'tools', 'model_input', 'metadata'],
} as const satisfies Readonly<Record<TemplatePlace, readonly string[]>>;

/** Where each place of the table stands in a sweep file, for people. */
export const placeNames: Readonly<Record<TemplatePlace, string>> = {
  driver: 'the driver',
  chat_target: 'a chat target',
  http_target: 'an HTTP target',
  check: 'a check',
};

/**
 * The variables that a scenario and its run bring: `input` and its top-level keys (which never hide a variable of the
 * table), `expected` (absent where the scenario has none), `meta`, `repeat`, `seed`.
 */
export function scenarioVariables(
  scenario: Scenario,
  run: { readonly repeat: number; readonly seed: number },
): Variables {
  const { input, expected, meta } = scenario;
  const expectation = expected === undefined ? {} : { expected, result: expected, scenario_result: expected };
  return {
    ...(isJsonObject(input) ? input : {}),
    input,
    scenario_input: input,
    ...expectation,
    meta,
    repeat: run.repeat,
    seed: run.seed,
  };
}

/** A `{path}` that cannot have a value where it stands. */
export type TemplateMistake = { readonly message: string; readonly hint: string };

/**
 * The unknown variables of a template. `inputKeys` are the top-level keys of all scenarios' inputs. A variable that
 * exists elsewhere only is said to; a misspelt one comes with the closest name.
 */
export function templateMistakes(
  template: Json,
  place: TemplatePlace,
  inputKeys: readonly string[],
): readonly TemplateMistake[] {
  const known: readonly string[] = [...templateVariables[place], ...inputKeys];
  return pathsOf(template)
    .filter(({ root }) => !known.includes(root))
    .map((path) => unknownVariable(path, place, known));
}

function unknownVariable(
  { path, root }: TemplatePath,
  place: TemplatePlace,
  known: readonly string[],
): TemplateMistake {
  const elsewhere = places.filter((other) => (templateVariables[other] as readonly string[]).includes(root));
  if (elsewhere.length > 0) {
    const names = elsewhere.map((other) => placeNames[other]).join(' or ');
    return { message: `{${path}} does not exist in ${placeNames[place]}`, hint: `it exists in ${names}` };
  }
  return {
    message: `unknown variable {${path}}`,
    hint: `a literal brace is written \\{; ${wordHint(root, known)}`,
  };
}

const places = Object.keys(templateVariables) as readonly TemplatePlace[];
