import type { Json, JsonObject } from '../json.ts';
import type { RunPlan } from '../run.ts';
import type { Scenario } from '../scenario.ts';
import type { Variables } from '../template.ts';
import { scenarioVariables } from '../template-variables.ts';
import {
  historyOf,
  type Message,
  repliesOf,
  type ToolCall,
  type Transcript,
  toolCallsOf,
} from '../transcript.ts';
import type { TurnNumbers } from './numbers.ts';

/** Everything that a check may look at. */
export type Evidence = {
  readonly scenario: Scenario;
  readonly run: Pick<RunPlan, 'id' | 'repeat' | 'seed'>;
  readonly transcript: Transcript;
  readonly numbers: readonly TurnNumbers[];
  /** The one turn that is asked about; absent: the whole transcript. */
  readonly turn?: number;
  readonly sessionId?: string;
  /** The tools that a chat target was given. */
  readonly tools?: Json;
};

/** The conversation as it stood after a turn. */
export function evidenceUpTo(evidence: Evidence, turn: number): Evidence {
  return {
    ...evidence,
    transcript: evidence.transcript.filter((message) => message.turn <= turn),
    numbers: evidence.numbers.filter((numbers) => numbers.turn <= turn),
  };
}

/** The same, but only this turn is asked about: what was said before is known as its context. */
export function evidenceAt(evidence: Evidence, turn: number): Evidence {
  return { ...evidenceUpTo(evidence, turn), turn };
}

/** The messages that are asked about. */
export function messagesAsked({ transcript, turn }: Evidence): readonly Message[] {
  return turn === undefined ? transcript : transcript.filter((message) => message.turn === turn);
}

/** The turns with a reply, in order; the greeting is none. */
export function completedTurns(transcript: Transcript): readonly number[] {
  return [...new Set(repliesOf(transcript).map((message) => message.turn))].filter((turn) => turn > 0);
}

/** The variables of check options and rubrics; what the conversation brings hides input keys of the same name. */
export function checkVariables(evidence: Evidence): Variables {
  const { scenario, run, sessionId, tools } = evidence;
  return {
    ...scenarioVariables(scenario, run),
    ...conversationVariables(evidence),
    session_id: sessionId,
    run_id: run.id,
    tools,
  };
}

/** The variables that hold what driver and target said and did: data of others, never instructions. */
export function conversationVariables(evidence: Evidence) {
  const { transcript } = evidence;
  const last = repliesOf(transcript).at(-1);
  const beforeLast = last === undefined ? transcript : transcript.slice(0, transcript.lastIndexOf(last));
  return {
    reply: last?.text,
    metadata: last?.metadata,
    latest_message: transcript.findLast((message) => message.by === 'driver')?.text,
    transcript: transcript.map((message) => `${message.by}: ${message.text}`).join('\n'),
    message_history: historyOf(transcript),
    model_input: historyOf(beforeLast),
    tool_calls: toolCallsOf(messagesAsked(evidence)).map(asJson),
    turn: evidence.turn ?? transcript.at(-1)?.turn ?? 0,
  } satisfies Variables;
}

/** A tool call as JSON: what was not captured is left out. */
export function asJson({ name, args, result }: ToolCall): JsonObject {
  return { name, ...(args === undefined ? {} : { args }), ...(result === undefined ? {} : { result }) };
}
