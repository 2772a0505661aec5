import type { CheckResult, TurnScore } from '../../domain/check.ts';
import type { Conversation } from '../../domain/conversation.ts';
import { type Ending, endingReason } from '../../domain/ending.ts';
import type { CallEvent } from '../../domain/journal.ts';
import { shortNumber } from '../../domain/measure.ts';
import { failureOf } from '../../domain/scenario-row.ts';
import type { Message, ToolCall } from '../../domain/transcript.ts';
import { totalUsage } from '../../domain/usage.ts';
import type { StoredRun } from '../sweep/read-run.ts';
import { causeText } from './cause.ts';
import { count, countOf, duration, money } from './numbers.ts';
import { createStyle, paintWord, type Style } from './style.ts';
import { table } from './table.ts';
import { oneLine, safeText, wrap } from './text.ts';

export type RunView = {
  readonly columns: number;
  readonly hasColour: boolean;
  /** Also the prompts. */
  readonly verbose?: boolean;
  /** Also shard and writers. */
  readonly debug?: boolean;
};

type Place = { readonly columns: number; readonly style: Style };

// Longer lines are hard to read, however wide the terminal is.
const widestText = 100;

/** A run for people: what became of it, the conversation as chats are read, checks, calls. */
export function formatRun(stored: StoredRun, view: RunView): string {
  const place = { columns: Math.min(view.columns, widestText), style: createStyle(view) };
  const sections = [
    headLines(stored, place),
    view.verbose ? promptLines(stored, place) : [],
    chatLines(stored, place),
    checkLines(stored, place),
    callLines(stored, place),
    view.debug || isDisturbed(stored) ? attemptLines(stored, place) : [],
    view.debug ? debugLines(stored) : [],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function headLines(stored: StoredRun, { columns, style }: Place): readonly string[] {
  const { run, outcome, result } = stored;
  const usage = totalUsage(result.usage);
  const ended = result.ending === undefined ? '' : `, ended by ${endingText(result.ending)}`;
  const blame = result.blame === undefined ? '' : `; blame: ${result.blame}`;
  const failure =
    outcome === undefined
      ? undefined
      : failureOf({ plan: { ...run, tags: result.tags }, result: { ...result, outcome } });
  const at = result.fault?.endpoint === undefined ? '' : ` (${result.fault.endpoint})`;
  return [
    style.bold(oneLine(run.id)),
    `${paintWord(style, outcome ?? 'open')}${ended} after ${countOf(result.turns, 'turn')}${blame}`,
    ...(failure === undefined ? [] : wrap(`Cause: ${oneLine(causeText(failure))}${at}`, columns)),
    ...wrap(
      `${duration(result.playMs)} of play, ${countOf(usage.calls, 'call')}, ${money(usage.costUsd)}${usage.estimated ? ' (estimated)' : ''}${disturbedText(stored)}`,
      columns,
    ),
  ];
}

function endingText(ending: Ending): string {
  const reason = endingReason(ending);
  return reason === undefined ? ending.kind : `${ending.kind} (${oneLine(reason)})`;
}

function disturbedText({ result }: StoredRun): string {
  const parts = [
    [result.resumptions, 'resumed'],
    [result.resent, 'resent'],
    [result.restarted, 'restarted'],
  ] as const;
  return parts.flatMap(([times, what]) => (times === 0 ? [] : [`, ${count(times)} ${what}`])).join('');
}

function promptLines({ opened }: StoredRun, { columns, style }: Place): readonly string[] {
  return Object.entries(opened?.prompts ?? {}).flatMap(([side, prompt]) => {
    const model = opened?.models[side];
    const title = `Prompt of the ${side}${model === undefined ? '' : ` (${model})`}`;
    return [style.bold(title), ...wrap(safeText(prompt), columns - 2).map((line) => `  ${line}`)];
  });
}

const speaker = 8;

function chatLines(stored: StoredRun, place: Place): readonly string[] {
  const { conversation, calls, result } = stored;
  const { transcript } = conversation;
  return transcript.flatMap((message, index) => {
    const isFirst = transcript[index - 1]?.turn !== message.turn;
    const isLast = transcript[index + 1]?.turn !== message.turn;
    return [
      ...(isFirst ? [...(index === 0 ? [] : ['']), turnHead(message.turn, calls, place)] : []),
      ...messageLines(message, place),
      ...(isLast ? turnCheckLines(turnResults(conversation, result.checks, message.turn), place) : []),
    ];
  });
}

function turnHead(turn: number, calls: readonly CallEvent[], { style }: Place): string {
  const played = calls.filter((call) => call.turn === turn && call.role !== 'judge' && !call.wasted);
  const times = (['driver', 'target'] as const).flatMap((role) => {
    const mine = played.filter((call) => call.role === role && call.code === 'ok');
    const ms = mine.reduce((sum, call) => sum + call.ms, 0);
    return mine.length === 0 ? [] : [`${role} ${duration(ms)}`];
  });
  return style.dim([turn === 0 ? 'greeting' : `turn ${turn}`, ...times].join('  '));
}

function messageLines(message: Message, { columns, style }: Place): readonly string[] {
  const texts = wrap(safeText(message.text), columns - speaker);
  const marks = message.marks === undefined ? [] : [`(odd: ${message.marks.join(', ')})`];
  const label = message.by.padEnd(speaker);
  return [
    ...texts.map((text, index) => (index === 0 ? style.bold(label) : ' '.repeat(speaker)) + text),
    ...marks.map((text) => ' '.repeat(speaker) + style.yellow(text)),
    ...message.toolCalls.flatMap((call) => toolCallLines(call, columns).map(style.dim)),
  ].map((line) => line.trimEnd());
}

function toolCallLines({ name, args, result }: ToolCall, columns: number): readonly string[] {
  const asked = `-> ${name}(${args === undefined ? '?' : JSON.stringify(args)})`;
  const answered = result === undefined ? [] : [`<- ${JSON.stringify(result)}`];
  const width = columns - speaker - 3;
  return [asked, ...answered].flatMap((text) =>
    wrap(oneLine(text), width).map((line, index) => `${' '.repeat(speaker + (index === 0 ? 0 : 3))}${line}`),
  );
}

/** What checks came to at a turn: as scored at the end, else while the conversation went on. */
function turnResults(
  { turnChecks }: Conversation,
  checks: readonly CheckResult[],
  turn: number,
): readonly (Omit<TurnScore, 'turn'> & { readonly check: string })[] {
  const scored = checks.flatMap(({ check, turns = [] }) =>
    turns.filter((score) => score.turn === turn).map((score) => ({ check, ...score })),
  );
  const asked = (turnChecks[turn] ?? []).filter(
    ({ check }) => !scored.some((score) => score.check === check),
  );
  return [...asked, ...scored];
}

function turnCheckLines(
  results: ReturnType<typeof turnResults>,
  { columns, style }: Place,
): readonly string[] {
  return results.flatMap(({ check, verdict, score, reason }) => {
    const value = score === undefined ? '' : ` ${shortNumber(score)}`;
    const why = reason === '' ? '' : `: ${oneLine(reason)}`;
    return wrap(`${verdict} ${check}${value}${why}`, columns - speaker).map((line, index) => {
      const text = index === 0 ? line.replace(verdict, (word) => paintWord(style, word)) : line;
      return ' '.repeat(speaker) + text;
    });
  });
}

function checkLines({ result }: StoredRun, { columns, style }: Place): readonly string[] {
  const rows = result.checks.map(({ check, required, verdict, score, reason }) => [
    verdict,
    required ? check : `${check} (soft)`,
    score === undefined ? '' : shortNumber(score),
    reason,
  ]);
  const faithful = result.faithful;
  if (faithful !== undefined) rows.push([faithful.verdict, 'faithful driver', '', faithful.reason]);
  if (rows.length === 0) return [];
  const shape = [{ paint: (text: string) => paintWord(style, text) }, {}, { align: 'right' }, {}] as const;
  return [style.bold('Checks'), ...table(shape, rows, { columns, lines: 4 })];
}

function callLines({ calls }: StoredRun, { columns, style }: Place): readonly string[] {
  if (calls.length === 0) return [];
  const rows = calls.map((call) => [
    call.turn,
    call.role,
    call.model,
    duration(call.ms),
    count(call.input_tokens),
    count(call.output_tokens),
    money(call.cost_usd),
    callNotes(call),
  ]);
  const right = { align: 'right' } as const;
  const shape = [
    { head: 'turn', ...right },
    { head: 'role' },
    { head: 'model', widest: 24 },
    { head: 'time', ...right },
    { head: 'in', ...right },
    { head: 'out', ...right },
    { head: 'cost', ...right },
    {},
  ];
  return [style.bold(`Calls: ${calls.length}`), ...table(shape, rows, { columns, lines: 2 })];
}

function callNotes(call: CallEvent): string {
  const { code, wasted, resent, unsure, estimated, wait_ms: waitMs } = call;
  return [
    ...(code === 'ok' ? [] : [code]),
    ...(wasted ? ['wasted'] : []),
    ...(resent ? ['resent'] : []),
    ...(unsure ? ['unsure'] : []),
    ...(estimated && code === 'ok' ? ['estimated'] : []),
    ...(waitMs === undefined ? [] : [`then waited ${duration(waitMs)}`]),
  ].join(', ');
}

/** A run that nothing disturbed has several attempts too: stretches, scoring. */
function isDisturbed({ attempts }: StoredRun): boolean {
  return attempts.some(({ resumed, startedAt }) => resumed || startedAt === undefined);
}

function attemptLines({ attempts }: StoredRun, { columns, style }: Place): readonly string[] {
  const rows = attempts.map(({ writer, startedAt, resumed, events }) => [
    startedAt === undefined ? '-' : new Date(startedAt).toISOString(),
    countOf(events, 'event'),
    writer,
    startedAt === undefined ? 'ignored' : resumed ? 'took over from one that was lost' : '',
  ]);
  return [style.bold('Attempts'), ...table([{}, { align: 'right' }, {}, {}], rows, { columns })];
}

function debugLines({ record, shard, run }: StoredRun): readonly string[] {
  return [`Shard ${shard.shard} of ${record.planned.shards}, queue ${record.queue}, seed ${run.seed}`];
}
