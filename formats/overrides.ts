import { isJsonObject, type Json } from '../domain/json.ts';
import { foldId } from '../domain/run-id.ts';
import type { Scenario } from '../domain/scenario.ts';
import { UsageError } from '../domain/usage-error.ts';
import { type Path, parseYamlDocument, pathText } from './document.ts';
import { type Edit, editDocument } from './edited-document.ts';
import {
  parseSource,
  readSweepDocument,
  type SweepFileContent,
  type SweepFileContext,
  type SweepSource,
} from './sweep-file.ts';
import { targetEdits } from './target-override.ts';

/** What the flags of a command change in a sweep file. Flags beat the file, an item's own values included. */
export type Overrides = {
  /** `path=value`, the value as YAML; in order. */
  readonly set?: readonly string[];
  readonly repeats?: number;
  readonly concurrency?: number;
  /** A key of `models`: answers every judge check and the judge of the driver. */
  readonly judgeModel?: string;
  /** A module, a file with a `target`, or the address that takes the place of the HTTP target's. */
  readonly target?: string;
} & Selection;

/** Which scenarios are played, in this order: by id, by tag, then the first so many. */
export type Selection = {
  /** Matches ids; `*` is any text, `?` one character; letter case does not count. */
  readonly only?: string;
  /** A scenario has one of these. */
  readonly tags?: readonly string[];
  readonly excludeTags?: readonly string[];
  readonly limit?: number;
  readonly allowEmpty?: boolean;
};

/** Reads a sweep file with flags applied. Throws a UsageError with every mistake, or where no scenario is left. */
export function readSweepWith(
  source: SweepSource,
  context: SweepFileContext,
  overrides: Overrides,
): SweepFileContent {
  const document = parseSource(source);
  const edits = editsOf(document.value, overrides, context);
  const content = readSweepDocument(editDocument(document, edits), source.file, context);
  return selectScenarios(overrides.repeats === undefined ? content : withoutOwnRepeats(content), overrides);
}

/** The scenarios that flags select; the own thresholds of the others go with them. */
export function selectScenarios(content: SweepFileContent, selection: Selection): SweepFileContent {
  const { only, tags, excludeTags = [], limit } = selection;
  const pattern = only === undefined ? undefined : wildcard(only);
  const scenarios = content.scenarios
    .filter(({ id }) => pattern === undefined || pattern.test(foldId(id)))
    .filter((scenario) => tags === undefined || tags.length === 0 || hasTag(scenario, tags))
    .filter((scenario) => !hasTag(scenario, excludeTags))
    .slice(0, limit);
  if (scenarios.length === 0 && selection.allowEmpty !== true) {
    throw new UsageError({
      message: `none of the ${content.scenarios.length} scenarios is selected`,
      hint: 'look at --only, --tag, --exclude-tag and --limit, or add --allow-empty',
    });
  }
  const ids = new Set(scenarios.map(({ id }) => id));
  const thresholds = content.spec.thresholds.filter(
    ({ scenario }) => scenario === undefined || ids.has(scenario),
  );
  return { spec: { ...content.spec, thresholds }, scenarios };
}

function hasTag(scenario: Scenario, tags: readonly string[]): boolean {
  return tags.some((tag) => scenario.tags.includes(tag));
}

function wildcard(pattern: string): RegExp {
  const source = foldId(pattern).replace(/[.*+?^${}()|[\]\\]/g, (sign) =>
    sign === '*' ? '.*' : sign === '?' ? '.' : `\\${sign}`,
  );
  return new RegExp(`^${source}$`, 'su');
}

function withoutOwnRepeats({ spec, scenarios }: SweepFileContent): SweepFileContent {
  return { spec, scenarios: scenarios.map(({ repeats: _, ...scenario }) => scenario) };
}

function editsOf(value: Json, overrides: Overrides, context: SweepFileContext): readonly Edit[] {
  const { set = [], repeats, concurrency, judgeModel, target } = overrides;
  return [
    ...(target === undefined ? [] : targetEdits(value, target, context.readText)),
    ...(repeats === undefined ? [] : [{ path: ['repeats'], value: repeats, from: '--repeats' }]),
    ...(concurrency === undefined
      ? []
      : [{ path: ['concurrency'], value: concurrency, from: '--concurrency' }]),
    ...(judgeModel === undefined ? [] : judgeEdits(value, judgeModel)),
    ...set.map((assignment) => setEdit(value, assignment)),
  ];
}

function judgeEdits(value: Json, model: string): readonly Edit[] {
  const { checks, driver } = isJsonObject(value) ? value : {};
  const judged = Object.entries(isJsonObject(checks) ? checks : {}).filter(
    ([, check]) => isJsonObject(check) && Object.hasOwn(check, 'judge'),
  );
  const paths: Path[] = judged.map(([name]) => ['checks', name, 'judge']);
  if (isJsonObject(driver) && Object.hasOwn(driver, 'faithful')) paths.push(['driver', 'faithful']);
  return paths.map((path) => ({ path, value: model, from: '--judge-model' }));
}

function setEdit(value: Json, assignment: string): Edit {
  const [, written, text] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  const from = `--set ${assignment}`;
  if (written === undefined || text === undefined) {
    throw new UsageError({
      message: `${from}: must be path=value`,
      hint: 'for instance --set conversation.max_turns=3',
    });
  }
  return {
    path: resolvePath(value, written.trim().split('.'), from),
    value: parseYamlDocument(text, from, () => undefined).value,
    from,
  };
}

// Keys may hold dots (`models.gpt-4.1.rpm`): the longest one that is there is meant.
function resolvePath(
  value: Json | undefined,
  steps: readonly string[],
  from: string,
  walked: Path = [],
): Path {
  if (steps.length === 0) return walked;
  if (Array.isArray(value)) {
    const [step = '', ...rest] = steps;
    const index = /^\d+$/.test(step) ? Number(step) : Number.NaN;
    if (index < value.length) return resolvePath(value[index], rest, from, [...walked, index]);
    const message = `${from}: "${pathText(walked)}" has no item ${step}`;
    throw new UsageError({ message, hint: `it has ${value.length}, counted from 0` });
  }
  const map = isJsonObject(value) ? value : {};
  const length =
    steps.findLastIndex((_, end) => Object.hasOwn(map, steps.slice(0, end + 1).join('.'))) + 1 || 1;
  const key = steps.slice(0, length).join('.');
  const inner = Object.hasOwn(map, key) ? map[key] : undefined;
  return resolvePath(inner, steps.slice(length), from, [...walked, key]);
}
