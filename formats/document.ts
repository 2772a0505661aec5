import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml';
import { isJsonObject, type Json } from '../domain/json.ts';
import { type Mistake, type Place, UsageError } from '../domain/usage-error.ts';
import { parseJson, syntaxErrorPlace } from './json-text.ts';

/** A way into a document: keys and indexes. */
export type Path = readonly (string | number)[];

/** What a file holds, and where each value stands in it. */
export type SourceDocument = {
  readonly value: Json;
  /** Where the value at a path stands, or its key; where it is missing, where the nearest value around it stands. */
  placeOf(path: Path, part?: Part): Place;
};

/** What a mistake is about: a value (the default), or the key in front of it. */
export type Part = 'key' | 'value';

/** In which parts of a YAML file a number that would lose something (`1.10`, `012`) stays text, or any scalar does. */
export type KeepText = (path: Path) => 'numbers' | 'all' | undefined;

/** `checks.polite.scale`, `scenarios.0.id`. */
export function pathText(path: Path): string {
  return path.join('.');
}

// Enough for anchors that people write; stops documents that grow from a few lines to gigabytes.
const maxAliasCount = 1000;

/** Parses YAML 1.2 (core schema). Throws a UsageError that names the first syntax error. */
export function parseYamlDocument(text: string, file: string, keepText: KeepText): SourceDocument {
  const lines = new LineCounter();
  const document = parseDocument(withoutMark(text), {
    lineCounter: lines,
    version: '1.2',
    prettyErrors: false,
  });
  const error = document.errors[0];
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new UsageError({ message: `not YAML: ${error.message}`, where: { file, line, column: col } });
  }
  keepWrittenText(document.contents, [], keepText);
  return {
    value: plainValue(document, file),
    placeOf: (path, part) => placeInYaml(document, lines, file, path, part),
  };
}

/** Parses JSON. Throws a UsageError that names the syntax error. */
export function parseJsonDocument(text: string, file: string): SourceDocument {
  const value = jsonOrThrow(withoutMark(text), file);
  // JSON is YAML enough for positions.
  const lines = new LineCounter();
  const document = parseDocument(withoutMark(text), {
    lineCounter: lines,
    version: '1.2',
    prettyErrors: false,
  });
  return { value, placeOf: (path, part) => placeInYaml(document, lines, file, path, part) };
}

/** A value that came without text: from a module. Throws a UsageError for what JSON cannot hold. */
export function valueDocument(value: unknown, file: string): SourceDocument {
  const mistakes: Mistake[] = [];
  const json = jsonOf(value, [], (path, what) =>
    mistakes.push({ message: `${what} cannot stand in a sweep file`, where: { file, path: pathText(path) } }),
  );
  if (mistakes.length > 0) throw new UsageError(mistakes);
  return { value: json ?? null, placeOf: (path) => ({ file, path: pathText(path) }) };
}

/** The text without its byte order mark. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function jsonOrThrow(text: string, file: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const where = { file, ...syntaxErrorPlace(error.message, text) };
    throw new UsageError({ message: `not JSON: ${error.message}`, where });
  }
}

function plainValue(document: Document, file: string): Json {
  try {
    return document.toJS({ maxAliasCount }) as Json;
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new UsageError({ message: 'its aliases (`*name`) expand to too much', where: { file } });
  }
}

function keepWrittenText(node: unknown, path: Path, keepText: KeepText): void {
  if (isScalar(node)) {
    const keep = keepText(path);
    if (node.type !== 'PLAIN' || node.source === undefined || keep === undefined) return;
    const loses = typeof node.value === 'number' && String(node.value) !== node.source;
    if (keep === 'all' ? node.value !== null : loses) node.value = node.source;
  } else if (isSeq(node)) {
    node.items.forEach((item, index) => {
      keepWrittenText(item, [...path, index], keepText);
    });
  } else if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (isScalar(key) && typeof key.value !== 'string' && key.source) key.value = key.source;
      keepWrittenText(value, [...path, keyText(key)], keepText);
    }
  }
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function placeInYaml(
  document: Document,
  lines: LineCounter,
  file: string,
  path: Path,
  part: Part = 'value',
): Place {
  let node: unknown = document.contents;
  let offset = (document.contents as Node | null)?.range?.[0] ?? 0;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    const item = isSeq(node) ? node.items[Number(step)] : undefined;
    const pair = isMap(node) ? pairOf(node.items, String(step)) : undefined;
    node = item ?? pair?.value;
    const start = (pair?.key ?? item) as Node | undefined;
    if (start?.range == null) break;
    offset = start.range[0];
  }
  const value = part === 'key' ? undefined : (node as Node | undefined)?.range;
  // A value on its key's line is pointed at itself; a block below is pointed at by its key.
  const start =
    value != null && lines.linePos(value[0]).line === lines.linePos(offset).line ? value[0] : offset;
  const { line, col } = lines.linePos(start);
  return { file, line, column: col, path: pathText(path) };
}

function pairOf(pairs: readonly Pair[], step: string): Pair | undefined {
  return pairs.find((pair) => keyText(pair.key) === step);
}

function jsonOf(value: unknown, path: Path, refuse: (path: Path, what: string) => void): Json | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || value === undefined)
    return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => jsonOf(item, [...path, index], refuse) ?? null);
  if (!isJsonObject(value) || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    refuse(path, typeof value === 'object' ? 'an instance of a class' : `a ${typeof value}`);
    return undefined;
  }
  const entries = Object.entries(value).map(
    ([key, inner]) => [key, jsonOf(inner, [...path, key], refuse)] as const,
  );
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}
