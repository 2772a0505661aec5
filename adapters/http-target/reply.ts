import type { TargetReply } from '../../activities/ports.ts';
import { Fault } from '../../domain/fault.ts';
import { isJsonObject, type Json, type JsonObject, textOf } from '../../domain/json.ts';
import { followPath, isWholePath } from '../../domain/json-path.ts';
import type { HttpSend } from '../../domain/sweep-spec.ts';
import { checkSize } from '../reply-size.ts';
import { toolCallsIn } from '../tool-calls.ts';
import type { HttpAnswer } from './exchange.ts';

/** Reads what is asked of an answer; throws a `Fault` bad_reply, blame target, that says what came instead. */
export type AnswerReader = {
  /** The value at a path; `undefined` where it leads nowhere. */
  find(path: string): Json | undefined;
  /** The text at a path: text, a list of parts, or other JSON as text; empty for null. */
  text(path: string): string;
  /** The session id at a path; `undefined` where there is none. */
  sessionId(path: string | undefined): string | undefined;
  bad(problem: string): Fault;
};

export type AnswerName = { readonly what: string; readonly endpoint: string; readonly excerpt: string };

/** A reader for one answer. */
export function readAnswer(answer: HttpAnswer, { what, endpoint, excerpt }: AnswerName): AnswerReader {
  const bad = (problem: string): Fault =>
    new Fault('bad_reply', `${what} ${problem}${excerpt === '' ? '' : `: ${excerpt}`}`, {
      blame: 'target',
      endpoint,
    });
  const find = (path: string): Json | undefined => {
    if (answer.json !== undefined) return followPath(answer.json, path);
    if (isWholePath(path)) return answer.text;
    throw bad(
      answer.text.trim() === '' ? 'answered with an empty body' : 'answered with text that is not JSON',
    );
  };
  return {
    find,
    bad,
    text: (path) => {
      const value = find(path);
      if (value === undefined) throw bad(`answered without ${path}`);
      return textIn(value);
    },
    sessionId: (path) => {
      const value = path === undefined ? undefined : find(path);
      return value === undefined || value === null || value === '' ? undefined : textOf(value);
    },
  };
}

/** Reads the reply to a message: it has text or tool calls, and is no larger than a message may be. */
export function readReply(spec: HttpSend, answer: HttpAnswer, name: AnswerName): TargetReply {
  const reader = readAnswer(answer, name);
  const toolCalls = spec.toolCalls === undefined ? [] : toolCallsIn(reader.find(spec.toolCalls));
  if (toolCalls === undefined)
    throw reader.bad(`answered with tool calls at ${spec.toolCalls} that cannot be read`);
  const hasCalls = toolCalls.length > 0;
  const text = hasCalls ? textIn(reader.find(spec.reply) ?? null) : reader.text(spec.reply);
  if (text.trim() === '' && !hasCalls)
    throw reader.bad(`answered with neither text at ${spec.reply} nor tool calls`);
  const sessionId = reader.sessionId(spec.sessionId);
  const metadata = metadataIn(spec.metadata === undefined ? undefined : reader.find(spec.metadata));
  const reply: TargetReply = {
    text,
    toolCalls,
    ms: answer.ms,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  checkSize(reply, name);
  return reply;
}

/** Text of a value: text, the texts of a list of parts, or JSON. */
export function textIn(value: Json): string {
  if (value === null) return '';
  if (!Array.isArray(value)) return textOf(value);
  const texts = value.map(partText);
  return texts.some((text) => text !== undefined) || value.length === 0 ? texts.join('') : textOf(value);
}

function partText(part: Json): string | undefined {
  if (typeof part === 'string') return part;
  if (!isJsonObject(part)) return undefined;
  // A thought is not said.
  if (part.thought === true || part.type === 'thinking' || part.type === 'reasoning') return '';
  const text = part.text ?? part.content;
  if (isJsonObject(text) && typeof text.value === 'string') return text.value;
  return typeof text === 'string' ? text : undefined;
}

function metadataIn(value: Json | undefined): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  return isJsonObject(value) ? value : { value };
}
