import { isJsonObject, type Json } from '../../domain/json.ts';
import type { Scenario } from '../../domain/scenario.ts';
import { pathsOf, TemplateError, type Variables, valueAt } from '../../domain/template.ts';
import { scenarioVariables, templateMistakes, templateVariables } from '../../domain/template-variables.ts';
import type { Path } from '../document.ts';
import type { FoundTemplate, Reader } from './reader.ts';

/** The top-level keys of all inputs: each is a variable. */
export function inputKeysOf(scenarios: readonly Scenario[]): readonly string[] {
  return [...new Set(scenarios.flatMap(({ input }) => (isJsonObject(input) ? Object.keys(input) : [])))];
}

/** Refuses templates with variables that do not exist where they stand, or that a row lacks. */
export function checkTemplates(reader: Reader, scenarios: readonly Scenario[]): void {
  // Without rows nobody knows which variables there are; that there are none has been said.
  if (scenarios.length === 0) return;
  const inputKeys = inputKeysOf(scenarios);
  const rows = scenarios.map((scenario) => ({
    scenario,
    variables: scenarioVariables(scenario, { repeat: 1, seed: 0 }),
  }));
  for (const found of reader.templates.flatMap(leavesOf)) {
    const mistakes = templateMistakes(found.template, found.place, inputKeys);
    for (const { message, hint } of mistakes) reader.refuse(found.path, message, hint);
    checkRows(reader, found, rows, inputKeys);
  }
}

type RowVariables = { readonly scenario: Scenario; readonly variables: Variables };

const ofRows = ['input', 'scenario_input', 'expected', 'result', 'scenario_result', 'meta'];

function checkRows(
  reader: Reader,
  found: FoundTemplate,
  rows: readonly RowVariables[],
  inputKeys: readonly string[],
): void {
  const { forTag, place } = found;
  const fixed: readonly string[] = templateVariables[place];
  const met = forTag === undefined ? rows : rows.filter(({ scenario }) => scenario.tags.includes(forTag));
  for (const path of pathsOf(found.template)) {
    // What a run brings is there whatever the row; an unknown variable has been refused already.
    const isOfRow =
      ofRows.includes(path.root) || (inputKeys.includes(path.root) && !fixed.includes(path.root));
    if (!isOfRow) continue;
    const lacking = met.flatMap(({ scenario, variables }) => {
      const problem = Object.hasOwn(variables, path.root)
        ? problemOf(() => valueAt(path, variables))
        : `{${path.path}}: the row has no "${path.root}"`;
      return problem === undefined ? [] : [{ id: scenario.id, problem }];
    });
    const [first, ...others] = lacking;
    if (first === undefined) continue;
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    reader.refuse(found.path, `scenario "${first.id}"${more}: ${first.problem}`);
  }
}

function problemOf(look: () => unknown): string | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return error.message;
  }
}

// Each string of a structure has a place of its own.
function leavesOf(found: FoundTemplate): readonly FoundTemplate[] {
  const { template, path } = found;
  const inner = (value: Json, step: string | number) =>
    leavesOf({ ...found, template: value, path: [...path, step] });
  if (Array.isArray(template)) return template.flatMap((item: Json, index) => inner(item, index));
  if (isJsonObject(template)) return Object.entries(template).flatMap(([key, value]) => inner(value, key));
  return typeof template === 'string' ? [found] : [];
}

/**
 * The maps whose only key names a variable and has no value: `{latest_message}` without quotes is such a map in YAML.
 * `isVariable` tells for the key's root.
 */
export function unquotedTemplates(
  value: Json,
  isVariable: (root: string) => boolean,
  path: Path = [],
): readonly Path[] {
  if (Array.isArray(value))
    return value.flatMap((item: Json, index) => unquotedTemplates(item, isVariable, [...path, index]));
  if (!isJsonObject(value)) return [];
  const [key, ...others] = Object.keys(value);
  if (key !== undefined && others.length === 0 && value[key] === null) {
    const [found] = pathsOf(`{${key}}`);
    if (found?.path === key && isVariable(found.root)) return [path];
  }
  return Object.entries(value).flatMap(([inner, item]) =>
    unquotedTemplates(item, isVariable, [...path, inner]),
  );
}
