import type { RunNumber } from '../domain/check.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { ToolCall, Transcript } from '../domain/transcript.ts';
import type { SweepFile } from '../formats/sweep-file/schema.ts';

export type { Json, JsonObject, Scenario, SweepFile, ToolCall, Transcript };

/** The sweep as its file's default export: `export default defineSweep({ ... })` gives completion and type checks. */
export function defineSweep(sweep: SweepFile): SweepFile {
  return sweep;
}

/** What a module target's `reply` gets. `key` is unique to the message: a message sent twice has the same one. */
export type ReplyInput = {
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  readonly scenario: Scenario;
  readonly sessionId?: string;
  readonly key: string;
};

/** What it returns: text, or this. `end`: it hangs up with this reply. */
export type Reply =
  | string
  | {
      readonly text: string;
      readonly toolCalls?: readonly ToolCall[];
      readonly sessionId?: string;
      readonly end?: boolean;
      readonly metadata?: JsonObject;
    };

/** What a tool of a chat target gets; `state` is what the last tool call of this conversation left, first null. */
export type ToolInput = {
  readonly args: JsonObject;
  readonly scenario: Scenario;
  readonly runId: string;
  readonly state: Json;
};

/** What it returns; without `state` the state stays. */
export type ToolResult = { readonly result: Json; readonly state?: Json };

/** What a code check gets. `turn` where it is asked at each turn. */
export type CodeCheckInput = {
  readonly transcript: Transcript;
  readonly scenario: Scenario;
  readonly usage: Readonly<Record<RunNumber, number>>;
  readonly turn?: number;
};

/** What it returns. */
export type CodeCheckAnswer =
  | boolean
  | number
  | { readonly score?: number; readonly pass?: boolean; readonly reason?: string };
