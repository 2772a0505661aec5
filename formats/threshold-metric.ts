import { runNumbers } from '../domain/check.ts';
import { wordHint } from '../domain/closest.ts';
import type { Metric, MetricSubject } from '../domain/threshold.ts';
import { column, fail, found, nextColumn, type Reader, stuck, take } from './threshold-reader.ts';

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

/** `METRIC[(SUBJECT)]`: passes are those of runs or of a check, values are scores or numbers of runs. */
export function readMetric(reader: Reader): Metric | typeof stuck {
  const at = nextColumn(reader);
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
  const at = nextColumn(reader);
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
