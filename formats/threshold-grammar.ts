import { runNumbers } from '../domain/check.ts';
import { wordHint } from '../domain/closest.ts';
import type { Comparison, Metric, MetricSubject, Threshold } from '../domain/threshold.ts';
import type { Mistake } from '../domain/usage-error.ts';

/** The names that thresholds may use. Without `tags` any tag will do. */
export type ThresholdNames = { readonly checks: readonly string[]; readonly tags?: readonly string[] };

export type ParsedThreshold =
  | { readonly kind: 'threshold'; readonly threshold: Threshold }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] };

const metricWords: readonly string[] = [
  'pass_rate',
  'pass@k',
  'pass^k',
  'mean',
  'p50',
  'p90',
  'p95',
  'p99',
  'min',
  'max',
  'broken_rate',
  'cost_usd',
  'runs',
];

const comparisons: readonly Comparison[] = ['>=', '<=', '==', '!=', '>', '<'];
const groups = ['scenario', 'target', 'tag'] as const;

/** The text, how far it was read, and what was wrong so far. */
type Reader = {
  readonly text: string;
  at: number;
  readonly names: ThresholdNames;
  readonly mistakes: Mistake[];
};

/** Reading cannot go on: the mistake is noted already. */
const stuck = Symbol('stuck');

function column(reader: Reader): number {
  return reader.at + 1;
}

function fail(reader: Reader, at: number, problem: string, hint?: string): void {
  const message = `threshold "${reader.text}", column ${at}: ${problem}`;
  reader.mistakes.push(hint === undefined ? { message } : { message, hint });
}

/** Reads what matches at this place, after spaces. */
function take(reader: Reader, pattern: RegExp): RegExpExecArray | undefined {
  reader.at += /^\s*/.exec(reader.text.slice(reader.at))?.[0].length ?? 0;
  const match = new RegExp(`^(?:${pattern.source})`).exec(reader.text.slice(reader.at));
  if (match === null) return undefined;
  reader.at += match[0].length;
  return match;
}

/** What stands at this place, for messages. */
function found(reader: Reader): string {
  const rest = reader.text.slice(reader.at).trim();
  const [word = ''] = /^(?:[\w^@./%-]+|\S)/.exec(rest) ?? [];
  return word === '' ? 'the end' : `"${word}"`;
}

/**
 * A threshold from its text: `METRIC[(SUBJECT)] OP VALUE [for each scenario|target|tag] [where tag T]
 * [with confidence C]`, the clauses in any order. All mistakes at once, each with its column, what was found, and
 * what is allowed or the closest name.
 */
export function parseThreshold(text: string, names: ThresholdNames): ParsedThreshold {
  const reader: Reader = { text, at: 0, names, mistakes: [] };
  const threshold = readThreshold(reader);
  if (threshold === stuck || reader.mistakes.length > 0)
    return { kind: 'mistakes', mistakes: reader.mistakes };
  return { kind: 'threshold', threshold };
}

function readThreshold(reader: Reader): Threshold | typeof stuck {
  const metric = readMetric(reader);
  if (metric === stuck) return stuck;
  const comparison = readComparison(reader);
  if (comparison === stuck) return stuck;
  const value = readValue(reader, metric);
  if (value === stuck) return stuck;
  const clauses = readClauses(reader, metric, comparison);
  if (clauses === stuck) return stuck;
  return { text: reader.text, metric, comparison, value, ...clauses };
}

function readMetric(reader: Reader): Metric | typeof stuck {
  take(reader, /(?=.)/);
  const at = column(reader);
  const word = take(reader, /[A-Za-z_]\w*(?:[@^][\w.-]*)?/)?.[0];
  if (word === undefined) {
    fail(reader, at, `expected a metric, found ${found(reader)}`, `allowed: ${metricWords.join(', ')}`);
    return stuck;
  }
  const subject = readSubject(reader);
  if (subject === stuck) return stuck;
  return metricOf(reader, word, at, subject);
}

type GivenSubject = { readonly name: string; readonly at: number } | undefined;

function readSubject(reader: Reader): GivenSubject | typeof stuck {
  if (take(reader, /\(/) === undefined) return undefined;
  take(reader, /(?=.)/);
  const at = column(reader);
  const name = take(reader, /[^()]*/)?.[0].trim() ?? '';
  if (take(reader, /\)/) === undefined) {
    fail(reader, column(reader), `expected ")", found ${found(reader)}`);
    return stuck;
  }
  return { name, at };
}

function metricOf(reader: Reader, word: string, at: number, given: GivenSubject): Metric | typeof stuck {
  const drawn = /^pass([@^])(.*)$/.exec(word);
  if (drawn !== null) {
    const k = Number(drawn[2]);
    if (!Number.isInteger(k) || k < 1) {
      fail(reader, at, `"${word}" needs a whole number from 1 on`, `for instance pass${drawn[1]}3`);
    }
    return { kind: drawn[1] === '@' ? 'pass_at' : 'pass_hat', k, subject: passSubject(reader, word, given) };
  }
  switch (word) {
    case 'pass_rate':
      return { kind: word, subject: passSubject(reader, word, given) };
    case 'mean':
    case 'min':
    case 'max':
      return { kind: word, subject: valueSubject(reader, { word, at }, given) };
    case 'p50':
      return { kind: 'percentile', percent: 50, subject: valueSubject(reader, { word, at }, given) };
    case 'p90':
      return { kind: 'percentile', percent: 90, subject: valueSubject(reader, { word, at }, given) };
    case 'p95':
      return { kind: 'percentile', percent: 95, subject: valueSubject(reader, { word, at }, given) };
    case 'p99':
      return { kind: 'percentile', percent: 99, subject: valueSubject(reader, { word, at }, given) };
    case 'broken_rate':
    case 'cost_usd':
    case 'runs':
      if (given !== undefined) fail(reader, given.at, `${word} takes no check, found "${given.name}"`);
      return { kind: word };
    default:
      fail(reader, at, `"${word}" is not a metric`, metricHint(word));
      return stuck;
  }
}

function metricHint(word: string): string {
  return /^p\d+$/.test(word) ? 'percentiles are p50, p90, p95, p99' : wordHint(word, metricWords);
}

/** Passes are those of runs or of one check. */
function passSubject(reader: Reader, word: string, given: GivenSubject): MetricSubject {
  if (given === undefined) return { kind: 'outcome' };
  const { name, at } = given;
  const { checks } = reader.names;
  if (!checks.includes(name)) {
    const isNumber = runNumbers.some((number) => number === name);
    const problem = isNumber ? `${word} needs a check, "${name}" is a number` : `"${name}" is not a check`;
    fail(reader, at, problem, isNumber ? `for instance mean(${name})` : wordHint(name, checks));
  }
  return { kind: 'check', check: name };
}

/** Values are the scores of a check or a number that every run has; a check's name goes first. */
function valueSubject(
  reader: Reader,
  metric: { readonly word: string; readonly at: number },
  given: GivenSubject,
): MetricSubject {
  const { checks } = reader.names;
  const allowed = [...checks, ...runNumbers];
  if (given === undefined) {
    const hint = `for instance ${metric.word}(reply_seconds); allowed: ${allowed.join(', ')}`;
    fail(reader, metric.at, `${metric.word} needs a check or a number in parentheses`, hint);
    return { kind: 'outcome' };
  }
  if (checks.includes(given.name)) return { kind: 'check', check: given.name };
  const number = runNumbers.find((candidate) => candidate === given.name);
  if (number !== undefined) return { kind: 'number', number };
  fail(
    reader,
    given.at,
    `"${given.name}" is neither a check nor a number of runs`,
    wordHint(given.name, allowed),
  );
  return { kind: 'outcome' };
}

function readComparison(reader: Reader): Comparison | typeof stuck {
  take(reader, /(?=.)/);
  const at = column(reader);
  const word = take(reader, /[<>=!]+/)?.[0];
  const comparison = comparisons.find((candidate) => candidate === word);
  if (comparison !== undefined) return comparison;
  const given = word === undefined ? found(reader) : `"${word}"`;
  fail(reader, at, `expected a comparison, found ${given}`, `allowed: ${comparisons.join(', ')}`);
  return stuck;
}

const digits = String.raw`\d+(?:\.\d+)?(?:e[-+]?\d+)?`;
const numberPattern = new RegExp(String.raw`([-+]?${digits})(?:\s*(%)|\s*/\s*(${digits}))?(?![\w.%/])`);

/** A number, a percentage or a fraction. */
function readNumber(reader: Reader): number | undefined {
  const match = take(reader, numberPattern);
  if (match === undefined) return undefined;
  const [, number, percent, divisor] = match;
  const value = Number(number) / (percent === undefined ? Number(divisor ?? 1) : 100);
  return Number.isFinite(value) ? value : undefined;
}

function isShare(metric: Metric): boolean {
  switch (metric.kind) {
    case 'pass_rate':
    case 'pass_at':
    case 'pass_hat':
    case 'broken_rate':
      return true;
    case 'mean':
    case 'min':
    case 'max':
    case 'percentile':
    case 'cost_usd':
    case 'runs':
      return false;
  }
}

function readValue(reader: Reader, metric: Metric): number | typeof stuck {
  take(reader, /(?=.)/);
  const at = column(reader);
  const given = found(reader);
  const value = readNumber(reader);
  if (value === undefined) {
    fail(
      reader,
      at,
      `expected a value, found ${given}`,
      'a number (0.9), a percentage (90%) or a fraction (2/3)',
    );
    return stuck;
  }
  if (isShare(metric) && (value < 0 || value > 1)) {
    const hint = value > 1 && value <= 100 ? `did you mean ${value}%?` : undefined;
    fail(reader, at, `a rate lies between 0 and 1, found ${given}`, hint);
  }
  return value;
}

type Clauses = Pick<Threshold, 'forEach' | 'whereTag' | 'confidence'>;

const clauseHint = 'allowed: for each scenario|target|tag, where tag T, with confidence C';

function readClauses(reader: Reader, metric: Metric, comparison: Comparison): Clauses | typeof stuck {
  let clauses: Clauses = {};
  for (;;) {
    take(reader, /(?=.)/);
    if (reader.at >= reader.text.trimEnd().length) return clauses;
    const at = column(reader);
    const clause = readClause(reader);
    if (clause === stuck) return stuck;
    const [key] = Object.keys(clause);
    if (key !== undefined && key in clauses) fail(reader, at, 'this clause is given twice');
    if (clause.confidence !== undefined) checkConfidence(reader, at, metric, comparison);
    clauses = { ...clauses, ...clause };
  }
}

function readClause(reader: Reader): Clauses | typeof stuck {
  if (take(reader, /for\s+each\b/) !== undefined) return readGroup(reader);
  if (take(reader, /where\s+tag\b/) !== undefined) return readTag(reader);
  if (take(reader, /with\s+confidence\b/) !== undefined) return readConfidence(reader);
  fail(reader, column(reader), `found ${found(reader)} after the value`, clauseHint);
  return stuck;
}

function readGroup(reader: Reader): Clauses | typeof stuck {
  take(reader, /(?=.)/);
  const at = column(reader);
  const given = found(reader);
  const word = take(reader, /\w+/)?.[0] ?? '';
  const group = groups.find((candidate) => candidate === word);
  if (group !== undefined) return { forEach: group };
  fail(
    reader,
    at,
    `expected scenario, target or tag after "for each", found ${given}`,
    wordHint(word, groups),
  );
  return stuck;
}

function readTag(reader: Reader): Clauses | typeof stuck {
  take(reader, /(?=.)/);
  const at = column(reader);
  const match = take(reader, /"([^"]*)"|'([^']*)'|([^\s"']+)/);
  const tag = match?.[1] ?? match?.[2] ?? match?.[3];
  const { tags } = reader.names;
  if (tag === undefined) {
    fail(reader, at, `expected a tag after "where tag", found ${found(reader)}`, tags && wordHint('', tags));
    return stuck;
  }
  if (tags !== undefined && !tags.includes(tag))
    fail(reader, at, `no scenario has the tag "${tag}"`, wordHint(tag, tags));
  return { whereTag: tag };
}

function readConfidence(reader: Reader): Clauses | typeof stuck {
  take(reader, /(?=.)/);
  const at = column(reader);
  const given = found(reader);
  const value = readNumber(reader);
  if (value !== undefined && value > 0.5 && value < 1) return { confidence: value };
  fail(reader, at, `a confidence lies above 0.5 and below 1, found ${given}`, 'for instance 0.95 or 95%');
  return value === undefined ? stuck : { confidence: value };
}

function checkConfidence(reader: Reader, at: number, metric: Metric, comparison: Comparison): void {
  if (
    metric.kind === 'min' ||
    metric.kind === 'max' ||
    metric.kind === 'cost_usd' ||
    metric.kind === 'runs'
  ) {
    fail(reader, at, `${metric.kind} takes no confidence`, 'it is a fact of these runs, not an estimate');
  }
  if (comparison === '==' || comparison === '!=') {
    fail(reader, at, `"${comparison}" takes no confidence`, 'allowed with a confidence: >=, >, <=, <');
  }
}
