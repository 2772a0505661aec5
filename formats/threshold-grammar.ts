import { wordHint } from '../domain/closest.ts';
import type { Comparison, Metric, Threshold } from '../domain/threshold.ts';
import type { Mistake } from '../domain/usage-error.ts';
import { readMetric } from './threshold-metric.ts';
import {
  column,
  fail,
  found,
  nextColumn,
  type Reader,
  stuck,
  type ThresholdNames,
  take,
} from './threshold-reader.ts';

export type ParsedThreshold =
  | { readonly kind: 'threshold'; readonly threshold: Threshold }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] };

const comparisons: readonly Comparison[] = ['>=', '<=', '==', '!=', '>', '<'];
const groups = ['scenario', 'target', 'tag'] as const;

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

function readComparison(reader: Reader): Comparison | typeof stuck {
  const at = nextColumn(reader);
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
  const at = nextColumn(reader);
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
  const at = nextColumn(reader);
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
  const at = nextColumn(reader);
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
  const at = nextColumn(reader);
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
