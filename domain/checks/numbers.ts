import type { RunNumber } from '../check.ts';
import type { CallEvent, JournalEvent } from '../journal.ts';
import type { JsonObject } from '../json.ts';
import { toolCallsOf, turnsOf } from '../transcript.ts';
import { type Evidence, messagesAsked } from './evidence.ts';
import type { Finding } from './verdict.ts';

/** What the successful calls of driver and target came to in one turn (0: the greeting). */
export type TurnNumbers = {
  readonly turn: number;
  /** Absent while the target has not been called. A reply that took several calls: their sum. */
  readonly replySeconds?: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
};

/** The numbers of each turn from the events of one generation. Judges, faulty and wasted calls do not count. */
export function turnNumbersOf(events: readonly JournalEvent[]): readonly TurnNumbers[] {
  const turns = new Map<number, TurnNumbers>();
  for (const event of events) {
    if (event.kind !== 'call' || event.role === 'judge' || event.code !== 'ok' || event.wasted === true)
      continue;
    turns.set(event.turn, withCall(turns.get(event.turn) ?? emptyTurn(event.turn), event));
  }
  return [...turns.values()];
}

function emptyTurn(turn: number): TurnNumbers {
  return { turn, inputTokens: 0, outputTokens: 0, costUsd: 0 };
}

function withCall(numbers: TurnNumbers, call: CallEvent): TurnNumbers {
  const seconds =
    call.role === 'target' ? { replySeconds: (numbers.replySeconds ?? 0) + call.ms / 1000 } : {};
  return {
    ...numbers,
    ...seconds,
    inputTokens: numbers.inputTokens + call.input_tokens,
    outputTokens: numbers.outputTokens + call.output_tokens,
    costUsd: numbers.costUsd + call.cost_usd,
  };
}

/** The numbers of what is asked about: the run so far, or one turn. `reply_seconds` is the slowest reply. */
export function runNumbersOf(evidence: Evidence): Readonly<Record<RunNumber, number>> & JsonObject {
  const messages = messagesAsked(evidence);
  const turns = evidence.numbers.filter(({ turn }) => evidence.turn === undefined || turn === evidence.turn);
  const sum = (of: (numbers: TurnNumbers) => number) =>
    turns.reduce((total, numbers) => total + of(numbers), 0);
  return {
    turns: turnsOf(messages),
    reply_seconds: Math.max(0, ...turns.map(({ replySeconds }) => replySeconds ?? 0)),
    input_tokens: sum(({ inputTokens }) => inputTokens),
    output_tokens: sum(({ outputTokens }) => outputTokens),
    cost_usd: sum(({ costUsd }) => costUsd),
    tool_calls: toolCallsOf(messages).length,
  };
}

/** The raw value of a number of the run, to be held against the pass marks. */
export function findNumber(
  check: { readonly number: RunNumber; readonly atLeast?: number; readonly atMost?: number },
  evidence: Evidence,
): Finding {
  const value = runNumbersOf(evidence)[check.number];
  const marks = [
    ...(check.atLeast === undefined ? [] : [`at least ${check.atLeast}`]),
    ...(check.atMost === undefined ? [] : [`at most ${check.atMost}`]),
  ];
  const expected = marks.length === 0 ? '' : `, expected ${marks.join(' and ')}`;
  return { score: value, reason: `${check.number} is ${value}${expected}` };
}
