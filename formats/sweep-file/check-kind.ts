import { type CheckKind, type JudgeAnswer, runNumbers } from '../../domain/check.ts';
import type { Json } from '../../domain/json.ts';
import { pathsOf, renderText } from '../../domain/template.ts';
import { defaults } from '../defaults.ts';
import type { Path } from '../document.ts';
import { present } from '../present.ts';
import type { RawCheck } from './checks.ts';
import type { Reader } from './reader.ts';

/** What a check asks; `undefined`, and mistakes, where its options do not hold. The check has exactly one kind. */
export function readCheckKind(reader: Reader, raw: RawCheck, path: Path): CheckKind | undefined {
  const template = <T extends Json>(value: T, ...inner: Path): T =>
    reader.template(value, {
      path: [...path, ...inner],
      place: 'check',
      ...present({ forTag: raw.for_tag }),
    });
  const caseSensitive = raw.case_sensitive ?? defaults['checks.*.case_sensitive'];
  for (const kind of ['contains_any', 'contains_all'] as const) {
    const texts = raw[kind];
    if (texts !== undefined) return { kind, texts: listOf(template(texts, kind)), caseSensitive };
  }
  for (const kind of ['matches_any', 'matches_all'] as const) {
    const patterns = raw[kind];
    if (patterns === undefined) continue;
    checkPatterns(reader, patterns, caseSensitive, [...path, kind]);
    return { kind, patterns: listOf(template(patterns, kind)), caseSensitive };
  }
  for (const kind of ['equals', 'levenshtein'] as const) {
    const text = raw[kind];
    if (text !== undefined) return { kind, text: template(text, kind) };
  }
  if (raw.is_json !== undefined) return { kind: 'is_json' };
  const number = runNumbers.find((candidate) => raw[candidate] !== undefined);
  if (number !== undefined) return { kind: 'number', number };
  if (raw.judge !== undefined) return readJudge(reader, raw, raw.judge, template, path);
  if (raw.code !== undefined) {
    const module = reader.module(raw.code, [...path, 'code']);
    return module === undefined ? undefined : { kind: 'code', module };
  }
  return readCallKind(raw, template);
}

type Template = <T extends Json>(value: T, ...inner: Path) => T;

function readCallKind(raw: RawCheck, template: Template): CheckKind | undefined {
  if (raw.calls_include !== undefined) {
    const tools = listOf(template(raw.calls_include, 'calls_include'));
    return { kind: 'calls_include', tools, ordered: raw.ordered === true };
  }
  if (raw.ordered !== undefined && typeof raw.ordered !== 'boolean') {
    return { kind: 'calls_include', tools: listOf(template(raw.ordered, 'ordered')), ordered: true };
  }
  if (raw.calls_exclude !== undefined) {
    return { kind: 'calls_exclude', tools: listOf(template(raw.calls_exclude, 'calls_exclude')) };
  }
  if (raw.call_args !== undefined) {
    const {
      tool,
      args,
      match = raw.match ?? defaults['checks.*.match'],
    } = template(raw.call_args, 'call_args');
    return { kind: 'call_args', tool, args, match };
  }
  if (raw.max_calls === undefined) return undefined;
  const tool = raw.tool === undefined ? undefined : template(raw.tool, 'tool');
  return { kind: 'max_calls', max: raw.max_calls, ...present({ tool }) };
}

function readJudge(
  reader: Reader,
  raw: RawCheck,
  judge: string,
  template: Template,
  path: Path,
): CheckKind | undefined {
  const model = reader.model(judge, [...path, 'judge']);
  const answer = readAnswer(reader, raw, path);
  if (raw.rubric === undefined)
    reader.refuse(path, '"rubric" is missing', 'it says what the judge is to decide');
  if (raw.rubric === undefined || answer === undefined) return undefined;
  const votes = raw.votes ?? defaults['checks.*.votes'];
  return { kind: 'judge', model, rubric: template(raw.rubric, 'rubric'), answer, votes };
}

function readAnswer(reader: Reader, raw: RawCheck, path: Path): JudgeAnswer | undefined {
  const { scale, choices } = raw;
  if (scale !== undefined && choices !== undefined) {
    reader.refuse([...path, 'choices'], 'a judge answers on a scale or by choices, not both');
    return undefined;
  }
  if (choices !== undefined) {
    if (Object.keys(choices).length >= 2) return { kind: 'choices', scores: choices };
    reader.refuse([...path, 'choices'], 'needs at least two choices, each with its score');
    return undefined;
  }
  if (scale === undefined) return { kind: 'pass_fail' };
  const [from = 0, to = 0] = scale.split('..').map(Number);
  if (from < to) return { kind: 'scale', from, to };
  reader.refuse([...path, 'scale'], `the scale ${scale} has its lower end last`);
  return undefined;
}

function checkPatterns(
  reader: Reader,
  patterns: string | readonly string[],
  caseSensitive: boolean,
  path: Path,
): void {
  listOf(patterns).forEach((pattern, index) => {
    // A pattern with variables is whole only once they are filled in.
    if (pathsOf(pattern).length > 0) return;
    try {
      reader.context.compileRegex(renderText(pattern, {}), { ignoreCase: !caseSensitive });
    } catch (error) {
      const where = typeof patterns === 'string' ? path : [...path, index];
      reader.refuse(where, `"${pattern}" is no regular expression: ${(error as Error).message}`);
    }
  });
}

function listOf(texts: string | readonly string[]): readonly string[] {
  return typeof texts === 'string' ? [texts] : texts;
}
