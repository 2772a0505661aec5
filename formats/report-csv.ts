import { endingReason } from '../domain/ending.ts';
import type { PlayedRun } from '../domain/sample.ts';
import { totalUsage } from '../domain/usage.ts';

type Cell = string | number | boolean | undefined;

/** RFC 4180: quoted where it holds a comma, a quote or a line end. */
function encodeCell(cell: Cell): string {
  const text = cell === undefined ? '' : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function encodeRow(cells: readonly Cell[]): string {
  return `${cells.map(encodeCell).join(',')}\r\n`;
}

const columns = [
  'run',
  'scenario',
  'variant',
  'repeat',
  'tags',
  'outcome',
  'ending',
  'ending_reason',
  'blame',
  'fault',
  'generation',
  'turns',
  'tool_calls',
  'slowest_reply_seconds',
  'play_seconds',
  'calls',
  'wasted_calls',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'estimated',
  'resumptions',
  'resent',
  'restarted',
  'marked_messages',
  'faithful',
  'started_at',
  'ended_at',
];

function isoTime(ms: number): string | undefined {
  return ms > 0 ? new Date(ms).toISOString() : undefined;
}

function cellsOf({ plan, result }: PlayedRun): readonly Cell[] {
  const planned = [plan.id, plan.scenario, plan.variant, plan.repeat, plan.tags.join(' ')];
  if (result === undefined) return [...planned, 'unplayed', ...new Array<undefined>(columns.length - 6)];
  const usage = totalUsage(result.usage);
  return [
    ...planned,
    result.outcome,
    result.ending?.kind,
    result.ending === undefined ? undefined : endingReason(result.ending),
    result.blame,
    result.fault?.code,
    result.generation,
    result.turns,
    result.toolCalls,
    result.replySeconds.length === 0 ? undefined : Math.max(...result.replySeconds),
    result.playMs / 1000,
    usage.calls,
    usage.wastedCalls,
    usage.inputTokens,
    usage.outputTokens,
    usage.costUsd,
    usage.estimated,
    result.resumptions,
    result.resent,
    result.restarted,
    result.markedMessages,
    result.faithful?.verdict,
    isoTime(result.startedAt),
    isoTime(result.endedAt),
  ];
}

/**
 * One row a planned run, after a row of column names; each check has two columns more, `NAME` (its verdict) and
 * `NAME.score`. Tags are separated by spaces, times are ISO 8601 in UTC, empty cells are unknown. Line by line.
 */
export function* csvLines(runs: Iterable<PlayedRun>, checks: readonly string[]): Generator<string> {
  yield encodeRow([...columns, ...checks.flatMap((check) => [check, `${check}.score`])]);
  for (const run of runs) {
    const byName = new Map(run.result?.checks.map((result) => [result.check, result]));
    const asked = checks.flatMap((check) => [byName.get(check)?.verdict, byName.get(check)?.score]);
    yield encodeRow([...cellsOf(run), ...asked]);
  }
}
