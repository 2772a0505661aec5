import { Fault } from '../domain/fault.ts';
import { isJsonObject, type Json, textOf } from '../domain/json.ts';
import { toolCallsIn } from '../domain/reported-calls.ts';
import type { QueueTarget } from '../domain/sweep-spec.ts';
import { type HistoryMessage, historyOf } from '../domain/transcript.ts';
import type { TargetReply } from './ports.ts';
import type { StretchEnd } from './run-work.ts';
import type { Stretch } from './stretch.ts';
import { targetCallOf } from './target-call.ts';

/** What the activity `target_turn` of a queue target is asked: its published input. */
export type TargetAsk = {
  readonly run_id: string;
  /** The same for each try of a turn, and for no other turn. */
  readonly idempotency_key: string;
  /** What the target answered as its session; null before it did. */
  readonly session_id: string | null;
  /** The scenario's input. */
  readonly input: Json;
  /** Null where the target speaks first. */
  readonly latest_message: string | null;
  /** The whole conversation, the latest message its last; left out once the target has a session. */
  readonly messages?: readonly HistoryMessage[];
};

/** What came of it, for the next stretch. */
export type TargetHeard = {
  readonly key: string;
  /** Without the time for which no worker of the target was there. */
  readonly ms: number;
  readonly reply?: Json;
  readonly failure?: TargetFailure;
};

export type TargetFailure = {
  /** The target's own error, no answer in time, or its worker went while it worked. */
  readonly kind: 'error' | 'timed_out' | 'interrupted';
  readonly message: string;
  readonly type?: string;
  readonly isFinal?: boolean;
};

const longestHistoryBytes = 128 * 1024;
const longestReplyBytes = 64 * 1024;

/** The turn of a target that lives on a queue of its own. */
export type QueueTurn = {
  /** The reply is there: nothing is asked, and nothing is unsure. */
  readonly hasReply: boolean;
  /** Leaves the stretch for an answer; undefined where there is one. */
  elsewhere(): StretchEnd | undefined;
  /** The answer, once. Throws the `Fault` that came instead. */
  read(): Promise<TargetReply>;
};

/** The turn as it stands: with what the last stretch asked for, if that is of this turn. */
export function queueTurn(stretch: Stretch, target: QueueTarget, turn: number): QueueTurn {
  const { heard } = stretch.input;
  const call = targetCallOf(stretch, turn);
  const queue = queueOf(target);
  let fresh = heard?.key === call.idempotencyKey ? heard : undefined;
  return {
    hasReply: fresh !== undefined && fresh.failure === undefined,
    elsewhere: () => {
      if (fresh !== undefined) return undefined;
      const ask = askOf(stretch, turn);
      // Too large a question is a fault of the call: `read` throws it.
      return isTooLarge(ask) ? undefined : { kind: 'ask_target', queue, ask };
    },
    read: async () => {
      const answer = fresh;
      fresh = undefined;
      if (answer === undefined) throw tooLarge(queue);
      return readHeard(answer, queue);
    },
  };
}

/** The task queue of a target's workers. */
export function queueOf({ queue }: QueueTarget): string {
  return `target.${queue}`;
}

function askOf(stretch: Stretch, turn: number): TargetAsk {
  const { runId, idempotencyKey, sessionId, scenario, latestMessage, transcript } = targetCallOf(
    stretch,
    turn,
  );
  return {
    run_id: runId,
    idempotency_key: idempotencyKey,
    session_id: sessionId ?? null,
    input: scenario.input,
    latest_message: latestMessage ?? null,
    ...(sessionId === undefined ? { messages: historyOf(transcript) } : {}),
  };
}

function isTooLarge({ messages = [] }: TargetAsk): boolean {
  return Buffer.byteLength(JSON.stringify(messages)) > longestHistoryBytes;
}

function tooLarge(queue: string): Fault {
  const message = `a target without a session is sent the whole conversation, at most ${longestHistoryBytes} bytes of it`;
  return new Fault('too_large', message, { blame: 'configuration', endpoint: queue });
}

function readHeard({ reply, failure, ms }: TargetHeard, queue: string): TargetReply {
  if (failure !== undefined) throw faultOf(failure, queue);
  const bad = (problem: string) =>
    new Fault('bad_reply', `target_turn on ${queue} answered ${problem}`, {
      blame: 'target',
      endpoint: queue,
    });
  const bytes = Buffer.byteLength(JSON.stringify(reply ?? null));
  if (bytes > longestReplyBytes) {
    const message = `target_turn on ${queue} answered ${bytes} bytes; ${longestReplyBytes} are allowed`;
    throw new Fault('too_large', message, { blame: 'target', endpoint: queue });
  }
  if (!isJsonObject(reply) || !['string', 'undefined'].includes(typeof (reply.text ?? undefined)))
    throw bad(`${JSON.stringify(reply ?? null).slice(0, 200)} where { text } was expected`);
  const toolCalls = toolCallsIn(reply.tool_calls);
  if (toolCalls === undefined)
    throw bad('with tool_calls that cannot be read (a name, and args that are a map)');
  const text = typeof reply.text === 'string' ? reply.text : '';
  const end = reply.end === true;
  if (text.trim() === '' && toolCalls.length === 0 && !end) throw bad('with neither text nor tool calls');
  const { session_id: sessionId = null } = reply;
  return {
    text,
    toolCalls,
    ms,
    ...(sessionId === null || sessionId === '' ? {} : { sessionId: textOf(sessionId) }),
    ...(end ? { end } : {}),
  };
}

function faultOf({ kind, message, type, isFinal = false }: TargetFailure, queue: string): Fault {
  const said = `target_turn on ${queue}: ${message}`;
  if (kind === 'timed_out')
    return new Fault('timed_out', said, { blame: 'target', endpoint: queue, unsure: true });
  if (kind === 'interrupted')
    return new Fault('unavailable', said, { blame: 'infrastructure', endpoint: queue, unsure: true });
  const code = type === 'lost_session' ? 'lost_session' : isFinal ? 'module_error' : 'unavailable';
  return new Fault(code, said, { blame: 'target', endpoint: queue });
}
