import type { z } from 'zod';
import { wordHint } from '../domain/closest.ts';
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts';
import { modelsUsed } from '../domain/models-used.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { ModelSpec, SweepSpec } from '../domain/sweep-spec.ts';
import { templateVariables } from '../domain/template-variables.ts';
import { type Mistake, UsageError } from '../domain/usage-error.ts';
import { defaults } from './defaults.ts';
import {
  type Path,
  parseJsonDocument,
  parseYamlDocument,
  type SourceDocument,
  valueDocument,
} from './document.ts';
import { type Edit, editDocument } from './edited-document.ts';
import { present } from './present.ts';
import { keepRowText } from './rows.ts';
import { describe } from './shape-mistakes.ts';
import { readChecks } from './sweep-file/checks.ts';
import { readConversation, readTimeouts } from './sweep-file/conversation.ts';
import { readDriver } from './sweep-file/driver.ts';
import { readModel } from './sweep-file/models.ts';
import { createReader, type Names, type Reader, type SweepFileContext } from './sweep-file/reader.ts';
import { readScenarios } from './sweep-file/scenarios.ts';
import { sections } from './sweep-file/schema.ts';
import { readTargets } from './sweep-file/target.ts';
import { checkTemplates, inputKeysOf, unquotedTemplates } from './sweep-file/templates.ts';
import { readThresholds } from './sweep-file/thresholds.ts';

import type { SweepDefaults } from './transcript/reader.ts';

export type { SweepFileContext } from './sweep-file/reader.ts';

/** A sweep file as text, or what a module exports. `file` is how messages name it. */
export type SweepSource =
  | { readonly file: string; readonly format: 'yaml' | 'json'; readonly text: string }
  | { readonly file: string; readonly value: unknown };

export type SweepFileContent = { readonly spec: SweepSpec; readonly scenarios: readonly Scenario[] };

/**
 * Reads a sweep file: all defaults filled in, all references checked, its row files read.
 * Throws a UsageError with every mistake and its place (of syntax errors only the first).
 */
export function readSweepFile(source: SweepSource, context: SweepFileContext): SweepFileContent {
  return readSweepDocument(parseSource(source), source.file, context);
}

/** `readSweepFile` for a document that was parsed, and perhaps edited, before. */
export function readSweepDocument(
  document: SourceDocument,
  file: string,
  context: SweepFileContext,
): SweepFileContent {
  const { value } = document;
  if (!isJsonObject(value)) {
    throw new UsageError({ message: `a sweep file must be a map, not ${describe(value)}`, where: { file } });
  }
  const reader = createReader(document, context, namesOf(value));
  const content = readSections(reader, value, file);
  if (reader.mistakes.length > 0) throw new UsageError(inOrder(reader.mistakes, file));
  return content;
}

/** Parses a sweep file without reading what it means. Throws a UsageError for the first syntax error. */
export function parseSource(source: SweepSource): SourceDocument {
  if ('value' in source) return valueDocument(source.value, source.file);
  if (source.format === 'json') return parseJsonDocument(source.text, source.file);
  return parseYamlDocument(source.text, source.file, ([section, index, ...path]: Path) =>
    section === 'scenarios' && index !== undefined ? keepRowText(path) : undefined,
  );
}

function readSections(reader: Reader, written: JsonObject, file: string): SweepFileContent {
  checkKeys(reader, written);
  const simple = readSimple(reader, written);
  const { scenarios, checks: own } = readScenarios(
    reader,
    written.scenarios,
    file,
    sweepDefaults(written, simple),
  );
  const raw = withQuotes(reader, written, inputKeysOf(scenarios));
  const driver = readDriver(reader, raw.driver);
  const spec: SweepSpec = {
    schema: 1,
    name: simple.name ?? nameOf(file),
    models: readModels(reader, raw.models),
    driver,
    targets: readTargets(reader, raw.target, raw.targets),
    conversation: readConversation(reader, raw.conversation, driver),
    repeats: simple.repeats ?? defaults.repeats,
    checks: [...readChecks(reader, raw.checks), ...own],
    thresholds: readThresholds(reader, raw.thresholds, scenarios),
    allowMissing: simple.allow_missing ?? defaults.allow_missing,
    concurrency: simple.concurrency ?? defaults.concurrency,
    timeouts: readTimeouts(reader, raw.timeouts),
    seed: simple.seed ?? defaults.seed,
    env: [...reader.env].sort(),
    ...present({ budgetUsd: simple.budget_usd }),
  };
  checkTags(reader, spec, scenarios);
  checkTemplates(reader, scenarios);
  checkBudget(reader, spec);
  return { spec, scenarios };
}

function sweepDefaults(
  { models }: JsonObject,
  {
    repeats = defaults.repeats,
    judge,
  }: { readonly repeats?: number | undefined; readonly judge?: string | undefined },
): SweepDefaults {
  const ids = Object.entries(isJsonObject(models) ? models : {}).map(
    ([name, entry]) => [name, isJsonObject(entry) ? String(entry.model) : ''] as const,
  );
  return { repeats, models: new Map(ids), ...present({ judge }) };
}

function namesOf(value: JsonObject): Names {
  const keys = (section: Json | undefined) => (isJsonObject(section) ? Object.keys(section) : []);
  return { models: keys(value.models), checks: keys(value.checks) };
}

function checkKeys(reader: Reader, value: JsonObject): void {
  const allowed = Object.keys(sections);
  for (const key of Object.keys(value).filter((candidate) => !allowed.includes(candidate))) {
    reader.refuse([key], `unknown key "${key}"`, wordHint(key, allowed), 'key');
  }
}

/** Outside the scenarios, whose values are data, a map whose only key is a variable is a template that lost its quotes. */
export function withQuotes(reader: Reader, written: JsonObject, inputKeys: readonly string[]): JsonObject {
  const known: readonly string[] = [...Object.values(templateVariables).flat(), ...inputKeys];
  const { scenarios: _, ...others } = written;
  const paths = unquotedTemplates(others, (root) => known.includes(root));
  const edits = paths.map((path): Edit => {
    const key = Object.keys(valueIn(others, path) as JsonObject)[0];
    reader.refuse(path, `{${key}} without quotes is a map`, `quote the template: "{${key}}"`);
    return { path, value: `{${key}}`, from: '' };
  });
  const quoted = editDocument({ value: others, placeOf: reader.placeOf }, edits).value;
  return quoted as JsonObject;
}

function valueIn(value: Json | undefined, path: Path): Json | undefined {
  return path.reduce<Json | undefined>(
    (inner, step) =>
      Array.isArray(inner) ? inner[Number(step)] : isJsonObject(inner) ? inner[step] : undefined,
    value,
  );
}

function readSimple(reader: Reader, raw: JsonObject) {
  const read = <T>(schema: z.ZodType<T>, key: keyof typeof sections): T | undefined =>
    raw[key] === undefined ? undefined : reader.shaped(schema, raw[key], [key]);
  const judge = read(sections.judge, 'judge');
  return {
    name: read(sections.name, 'name'),
    repeats: read(sections.repeats, 'repeats'),
    allow_missing: read(sections.allow_missing, 'allow_missing'),
    concurrency: read(sections.concurrency, 'concurrency'),
    budget_usd: read(sections.budget_usd, 'budget_usd'),
    seed: read(sections.seed, 'seed'),
    judge: judge === undefined ? undefined : reader.model(judge, ['judge']),
  };
}

/** `models`: every entry that is right; the mistakes of the others go to the reader. */
export function readModels(reader: Reader, value: Json | undefined): Readonly<Record<string, ModelSpec>> {
  if (value === undefined) return {};
  if (!isJsonObject(value)) {
    reader.refuse(['models'], `must be a map of models, not ${describe(value)}`);
    return {};
  }
  const models = Object.entries(value).flatMap(([name, raw]) => readModel(reader, name, raw) ?? []);
  return Object.fromEntries(models.map((model) => [model.name, model]));
}

/** Refuses a check for a tag that no scenario has: it would never be asked. */
export function checkTags(reader: Reader, spec: SweepSpec, scenarios: readonly Scenario[]): void {
  const tags = [...new Set(scenarios.flatMap((scenario) => scenario.tags))];
  for (const { name, forTag } of spec.checks) {
    if (scenarios.length === 0 || forTag === undefined || tags.includes(forTag)) continue;
    reader.refuse(['checks', name, 'for_tag'], `no scenario has the tag "${forTag}"`, wordHint(forTag, tags));
  }
}

/** Refuses a budget where a model that is used has no known price. */
export function checkBudget(reader: Reader, spec: SweepSpec): void {
  if (spec.budgetUsd === undefined) return;
  for (const model of modelsUsed(spec).filter((candidate) => !reader.context.priceKnown(candidate))) {
    const hint = `add \`price: { input: USD, output: USD }\` (per million tokens) to models.${model.name}`;
    reader.refuse(['budget_usd'], `a budget needs prices, and none is known for ${model.model}`, hint);
  }
}

function nameOf(file: string): string {
  const stem = (file.split(/[\\/]/).at(-1) ?? '').replace(/\.[^.]*$/, '');
  return (
    stem
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 60) || 'sweep'
  );
}

/** Mistakes in order: the file's own first, each file's from top to bottom; what is about a whole file comes last. */
export function inOrder(mistakes: readonly Mistake[], file: string): readonly Mistake[] {
  const files = [...new Set([file, ...mistakes.map(({ where }) => where?.file)])];
  const rank = ({ where }: Mistake) => [
    files.indexOf(where?.file),
    where?.line ?? Number.MAX_SAFE_INTEGER,
    where?.column ?? 0,
  ];
  return mistakes.toSorted((a, b) => {
    const [ranksA, ranksB] = [rank(a), rank(b)];
    return (
      ranksA.map((value, index) => value - (ranksB[index] ?? 0)).find((difference) => difference !== 0) ?? 0
    );
  });
}
