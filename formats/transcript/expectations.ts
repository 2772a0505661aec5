import type { CheckKind, CheckSpec } from '../../domain/check.ts';
import { literally } from '../../domain/template.ts';
import type { Path } from '../document.ts';
import { withUnicodeClasses } from '../python-regex.ts';
import { judgeModel } from './judge-model.ts';
import type { TranscriptReader } from './reader.ts';
import type { RawExpect, RawJudge } from './schema.ts';

/** What is expected of one turn, in the order in which failures are named. An empty list expects nothing. */
export function readExpectations(
  reader: TranscriptReader,
  raw: RawExpect,
  at: { readonly scenario: string; readonly turn: number; readonly path: Path },
): readonly CheckSpec[] {
  if (raw.tool_calls_ordered === true && (raw.tool_calls_include ?? []).length === 0) {
    const hint = 'add tool_calls_include, whose order it is about';
    reader.refuse([...at.path, 'tool_calls_ordered'], 'there is nothing to order', hint);
  }
  const kinds = [
    ...toolKinds(raw),
    ...textKinds(reader, raw, at.path),
    ...judgeKinds(reader, raw, at.path),
    ...argsKinds(reader, raw, at.path),
    ...codeKinds(reader, raw, at.path),
  ];
  return kinds.map(([key, kind]) => ({
    ...kind,
    name: `${at.scenario}/turn ${at.turn}/${key}`,
    sees: kind.kind === 'judge' ? 'transcript' : 'replies',
    at: at.turn,
    rollup: 'all',
    required: true,
    not: false,
    forScenario: at.scenario,
  }));
}

type Keyed = readonly [key: string, kind: CheckKind];

function toolKinds(raw: RawExpect): readonly Keyed[] {
  const { tool_calls_include: include = [], tool_calls_exclude: exclude = [] } = raw;
  const ordered = raw.tool_calls_ordered === true;
  return [
    ...ifAny('tool_calls_include', include, (tools) => ({ kind: 'calls_include', tools, ordered })),
    ...ifAny('tool_calls_exclude', exclude, (tools) => ({ kind: 'calls_exclude', tools })),
  ];
}

function textKinds(reader: TranscriptReader, raw: RawExpect, path: Path): readonly Keyed[] {
  const contains = (['any', 'all'] as const).flatMap((which) =>
    ifAny(`reply_contains_${which}`, raw[`reply_contains_${which}`] ?? [], (texts) => ({
      ...{ kind: `contains_${which}`, texts, caseSensitive: false },
    })),
  );
  const matches = (['any', 'all'] as const).flatMap((which) => {
    const key = `reply_matches_${which}` as const;
    const written = raw[key] ?? [];
    const patterns = written.map((pattern, index) => patternOf(reader, pattern, [...path, key, index]));
    return ifAny(key, patterns, (all) => ({
      ...{ kind: `matches_${which}`, patterns: all, caseSensitive: false },
    }));
  });
  return [...contains, ...matches];
}

/** The pattern as the engine takes it; refuses one that it cannot have. */
function patternOf({ context, refuse }: TranscriptReader, pattern: string, path: Path): string {
  try {
    const written = withUnicodeClasses(pattern);
    context.compileRegex(written, { ignoreCase: true });
    return written;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    refuse(path, `"${pattern}" is no regular expression that can be used: ${error.message}`);
    return '';
  }
}

function ifAny(
  key: string,
  texts: readonly string[],
  kindOf: (texts: readonly string[]) => CheckKind,
): readonly Keyed[] {
  return texts.length === 0 ? [] : [[key, kindOf(texts.map((text) => literally(text)))]];
}

function judgeKinds(reader: TranscriptReader, raw: RawExpect, path: Path): readonly Keyed[] {
  return raw.judge === undefined ? [] : judgeKind(reader, 'judge', raw.judge, [...path, 'judge']);
}

function judgeKind(
  reader: TranscriptReader,
  key: string,
  judge: RawJudge,
  path: Path,
  tool?: string,
): readonly Keyed[] {
  const model = judgeModel(reader, judge, path);
  if (model === undefined) return [];
  const answer = { kind: 'pass_fail' } as const;
  const about = tool === undefined ? {} : { tool };
  return [[key, { kind: 'judge', model, rubric: literally(judge.rubric), answer, votes: 1, ...about }]];
}

function argsKinds(reader: TranscriptReader, raw: RawExpect, path: Path): readonly Keyed[] {
  return (raw.tool_calls_args ?? []).flatMap(({ tool, args, mode = 'subset', judge }, index) => {
    const inner = [...path, 'tool_calls_args', index];
    const key = `tool_calls_args ${index + 1}`;
    if (args === undefined && judge === undefined) {
      reader.refuse(inner, `nothing is expected of the calls of "${tool}"`, 'add args, or judge, or both');
    }
    if (args === undefined && mode !== 'subset') {
      reader.refuse([...inner, 'mode'], '"mode" says how args are compared, and there are none');
    }
    const compared: readonly Keyed[] =
      args === undefined
        ? []
        : [[key, { kind: 'call_args', tool: literally(tool), args: literally(args), match: mode }]];
    const judged =
      judge === undefined ? [] : judgeKind(reader, `${key} judge`, judge, [...inner, 'judge'], tool);
    return [...compared, ...judged];
  });
}

function codeKinds(
  { context, besides, row, add }: TranscriptReader,
  raw: RawExpect,
  path: Path,
): readonly Keyed[] {
  return (raw.evaluators ?? []).flatMap((name, index): readonly Keyed[] => {
    const module = context.moduleRef(besides(name));
    if ('sha256' in module) return [[`evaluators ${index + 1}`, { kind: 'code', module, asks: 'evaluate' }]];
    add({ ...module, where: row.placeOf([...path, 'evaluators', index]) });
    return [];
  });
}
