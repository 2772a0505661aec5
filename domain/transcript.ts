import type { Json, JsonObject } from './json.ts';

export type Side = 'driver' | 'target';

/** A call that the target made to one of its tools. `args` is absent where they could not be captured. */
export type ToolCall = {
  readonly name: string;
  readonly args?: Json;
  readonly result?: Json;
};

/**
 * What one side says once. `turn` counts exchanges from 1; 0 is the greeting.
 * `marks` are the signs of a driver message that left its role and was kept all the same.
 */
export type Message = {
  readonly by: Side;
  readonly turn: number;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly metadata?: JsonObject;
  readonly marks?: readonly string[];
};

/** The messages of one run, in order. */
export type Transcript = readonly Message[];

/** A message as the target's side sees it: the driver is its user. */
export type HistoryMessage = { readonly role: 'user' | 'assistant'; readonly content: string };

/** The conversation as targets see it; the driver's latest message is its last. */
export function historyOf(transcript: Transcript): readonly HistoryMessage[] {
  return transcript.map(({ by, text }) => ({ role: by === 'driver' ? 'user' : 'assistant', content: text }));
}

/** The replies (the target's messages, the greeting included), in order. */
export function repliesOf(transcript: Transcript): readonly Message[] {
  return transcript.filter((message) => message.by === 'target');
}

/** Every tool call of the target, in order. */
export function toolCallsOf(transcript: Transcript): readonly ToolCall[] {
  return transcript.flatMap((message) => message.toolCalls);
}

/** How many turns were completed: exchanges with a reply. */
export function turnsOf(transcript: Transcript): number {
  return transcript.filter((message) => message.by === 'target' && message.turn > 0).length;
}
