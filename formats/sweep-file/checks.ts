import type { z } from 'zod';
import { type CheckKind, type CheckSpec, runNumbers } from '../../domain/check.ts';
import { isJsonObject, type Json } from '../../domain/json.ts';
import { defaults } from '../defaults.ts';
import type { Path } from '../document.ts';
import { present } from '../present.ts';
import { describe } from '../shape-mistakes.ts';
import { readCheckKind } from './check-kind.ts';
import type { Reader } from './reader.ts';
import { checkSchema } from './schema.ts';

export type RawCheck = z.output<typeof checkSchema>;

const textKinds = [
  'contains_any',
  'contains_all',
  'matches_any',
  'matches_all',
  'equals',
  'is_json',
  'levenshtein',
];
const kinds = [
  ...textKinds,
  'calls_include',
  'calls_exclude',
  'ordered',
  'call_args',
  'max_calls',
  ...runNumbers,
  'judge',
  'code',
];

/** Which kinds an option that not every kind has belongs to. */
const optionKinds: Readonly<Record<string, readonly string[]>> = {
  case_sensitive: ['contains_any', 'contains_all', 'matches_any', 'matches_all'],
  ordered: ['calls_include'],
  match: ['call_args'],
  tool: ['max_calls'],
  rubric: ['judge'],
  scale: ['judge'],
  choices: ['judge'],
  votes: ['judge'],
  sees: [...textKinds, 'judge'],
};

/** `checks`: every entry that is right; the mistakes of the others go to the reader. */
export function readChecks(reader: Reader, value: Json | undefined): readonly CheckSpec[] {
  if (value === undefined) return [];
  if (!isJsonObject(value)) {
    reader.refuse(['checks'], `must be a map of checks, not ${describe(value)}`);
    return [];
  }
  return Object.entries(value).flatMap(([name, raw]) => {
    const check = readCheck(reader, name, raw);
    return check === undefined ? [] : [check];
  });
}

function readCheck(reader: Reader, name: string, value: Json): CheckSpec | undefined {
  const path = ['checks', name];
  checkName(reader, name, path);
  const raw = reader.shaped(checkSchema, value, path);
  if (raw === undefined) return undefined;
  const kindName = kindOf(reader, raw, path);
  if (kindName === undefined) return undefined;
  checkOptions(reader, raw, kindName, path);
  const kind = readCheckKind(reader, raw, path);
  const marks = marksOf(raw, kindName);
  if (kind === undefined) return undefined;
  checkMarks(reader, kind, marks, path);
  return {
    ...kind,
    name,
    sees: raw.sees ?? (kindName === 'judge' ? defaults['checks.*.sees (judge)'] : defaults['checks.*.sees']),
    at: raw.at ?? defaults['checks.*.at'],
    rollup: raw.rollup ?? defaults['checks.*.rollup'],
    required: raw.required ?? defaults['checks.*.required'],
    not: raw.not ?? defaults['checks.*.not'],
    ...present({ forTag: raw.for_tag, atLeast: marks.at_least, atMost: marks.at_most }),
  };
}

function checkName(reader: Reader, name: string, path: Path): void {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) {
    reader.refuse(
      path,
      `"${name}" cannot name a check`,
      'letters, digits, dashes and underscores: thresholds refer to it',
      'key',
    );
  } else if ((runNumbers as readonly string[]).includes(name)) {
    reader.refuse(
      path,
      `"${name}" is a number that every run has, and cannot name a check`,
      'choose another name',
      'key',
    );
  }
}

// `ordered: true` is an option of calls_include, `ordered: [a, b]` a kind.
function isKind(raw: RawCheck, key: string): boolean {
  return kinds.includes(key) && !(key === 'ordered' && typeof raw.ordered === 'boolean');
}

function kindOf(reader: Reader, raw: RawCheck, path: Path): string | undefined {
  const given = Object.keys(raw).filter((key) => isKind(raw, key));
  if (given.length === 1) return given[0];
  if (given.length === 0) reader.refuse(path, 'the check has no kind', `one of ${kinds.join(', ')}`);
  else
    reader.refuse(
      path,
      `the check has ${given.length} kinds: ${given.join(', ')}`,
      'a check asks one thing: make it two',
    );
  return undefined;
}

function checkOptions(reader: Reader, raw: RawCheck, kind: string, path: Path): void {
  for (const option of Object.keys(raw)) {
    const allowed = optionKinds[option];
    if (isKind(raw, option) || allowed === undefined || allowed.includes(kind)) continue;
    reader.refuse(
      [...path, option],
      `"${option}" is no option of ${kind}`,
      `it belongs to ${allowed.join(', ')}`,
    );
  }
  if (raw.rollup !== undefined && raw.at !== 'each_turn') {
    reader.refuse([...path, 'rollup'], 'there is nothing to roll up', '`rollup` goes with `at: each_turn`');
  }
}

type Marks = { readonly at_least?: number; readonly at_most?: number };

// The marks of a number stand below its name or beside it.
function marksOf(raw: RawCheck, kind: string): Marks {
  const below = runNumbers.map((number) => (number === kind ? raw[number] : undefined)).find(isJsonObject);
  return { ...present({ at_least: raw.at_least, at_most: raw.at_most }), ...(below as Marks | undefined) };
}

function checkMarks(reader: Reader, kind: CheckKind, marks: Marks, path: Path): void {
  const { at_least: least, at_most: most } = marks;
  if (kind.kind === 'number' && least === undefined && most === undefined) {
    reader.refuse(path, `${kind.number} needs a pass mark`, 'at_least or at_most');
  }
  if (least !== undefined && most !== undefined && least > most) {
    reader.refuse(path, `at_least ${least} is more than at_most ${most}: nothing can pass`);
  }
  const [from, to] = scoresOf(kind);
  for (const [key, mark] of Object.entries(marks)) {
    if (mark < from || mark > to)
      reader.refuse([...path, key], `must be between ${from} and ${to}, not ${mark}`);
  }
}

/** The least and the most that a check of this kind can score. */
function scoresOf(kind: CheckKind): readonly [from: number, to: number] {
  if (kind.kind === 'number' || kind.kind === 'code')
    return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  if (kind.kind !== 'judge') return [0, 1];
  if (kind.answer.kind === 'pass_fail') return [0, 1];
  if (kind.answer.kind === 'scale') return [kind.answer.from, kind.answer.to];
  const scores = Object.values(kind.answer.scores);
  return [Math.min(...scores), Math.max(...scores)];
}
