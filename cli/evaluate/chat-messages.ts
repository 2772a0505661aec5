import { textIn } from '../../adapters/http-target/reply.ts';
import { wordHint } from '../../domain/closest.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { toolCallsIn } from '../../domain/reported-calls.ts';
import type { Message, Side, ToolCall, Transcript } from '../../domain/transcript.ts';
import { parseObject } from '../../formats/stored-json.ts';

export type ReadMessages = {
  readonly transcript: Transcript;
  /** What system and developer messages say; absent where there is none. */
  readonly system?: string;
};

/** Told what is wrong with the message at an index. */
export type RefuseMessage = (index: number, message: string, hint?: string) => void;

/** A side's part of a turn while it is read. */
type Draft = {
  readonly by: Side;
  readonly turn: number;
  readonly texts: string[];
  readonly calls: { id?: Json; call: ToolCall }[];
  metadata?: JsonObject;
};

const chatRoles = ['user', 'assistant', 'tool', 'system', 'developer', 'function'] as const;

/**
 * Chat messages as a transcript: the user is the driver, the assistant is the target. What one side says several
 * times before the other answers is one message, and results of tools are put to their calls.
 */
export function readChatMessages(messages: readonly Json[], refuse: RefuseMessage): ReadMessages {
  const drafts: Draft[] = [];
  const system: string[] = [];
  for (const [index, value] of messages.entries()) {
    if (isJsonObject(value)) readMessage(value, drafts, system, (...wrong) => refuse(index, ...wrong));
    else refuse(index, 'a message must be an object with role and content');
  }
  return {
    transcript: drafts.map(messageOf),
    ...(system.length === 0 ? {} : { system: system.join('\n\n') }),
  };
}

type Refuse = (message: string, hint?: string) => void;

function readMessage(value: JsonObject, drafts: Draft[], system: string[], refuse: Refuse): void {
  const role = chatRoles.find((name) => name === value.role);
  const text = textIn(value.content ?? null);
  switch (role) {
    case 'system':
    case 'developer':
      system.push(text);
      return;
    case 'user':
      if (text === '') refuse('the message has no content');
      draftOf('driver', drafts).texts.push(text);
      return;
    case 'assistant':
      readReply(value, text, draftOf('target', drafts), refuse);
      return;
    case 'tool':
    case 'function':
      readResult(value, text, drafts.at(-1), refuse);
      return;
    case undefined:
      refuse(
        typeof value.role === 'string' ? `there is no role "${value.role}"` : 'the message has no role',
        wordHint(String(value.role ?? ''), chatRoles),
      );
  }
}

/** The part that a side speaks in now. A greeting is turn 0. */
function draftOf(by: Side, drafts: Draft[]): Draft {
  const last = drafts.at(-1);
  if (last?.by === by) return last;
  const turn = (last?.turn ?? 0) + (by === 'driver' ? 1 : 0);
  const fresh: Draft = { by, turn, texts: [], calls: [] };
  drafts.push(fresh);
  return fresh;
}

function readReply(value: JsonObject, text: string, draft: Draft, refuse: Refuse): void {
  const asked = value.tool_calls ?? value.function_call;
  const calls = toolCallsIn(asked);
  if (calls === undefined) refuse('a tool call has no name');
  const given = Array.isArray(asked) ? asked : [asked];
  draft.texts.push(text);
  draft.calls.push(
    ...(calls ?? []).map((call, index) => {
      const source: Json = given[index];
      return { call, ...(isJsonObject(source) && source.id !== undefined ? { id: source.id } : {}) };
    }),
  );
  if (isJsonObject(value.metadata)) draft.metadata = { ...draft.metadata, ...value.metadata };
}

function readResult(value: JsonObject, text: string, draft: Draft | undefined, refuse: Refuse): void {
  const open = draft?.calls.filter(({ call }) => call.result === undefined) ?? [];
  const id = value.tool_call_id;
  const asked =
    id === undefined
      ? (open.find(({ call }) => call.name === value.name) ?? open[0])
      : open.find((candidate) => candidate.id === id);
  if (asked === undefined) refuse('the result belongs to no tool call before it', 'see its tool_call_id');
  else asked.call = { ...asked.call, result: parseObject(text) ?? text };
}

function messageOf({ by, turn, texts, calls, metadata }: Draft): Message {
  return {
    by,
    turn,
    text: texts.filter((text) => text !== '').join('\n\n'),
    toolCalls: calls.map(({ call }) => call),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
