import type { TargetReply } from '../../activities/ports.ts';
import { Fault } from '../../domain/fault.ts';
import { isJsonObject, type Json, type JsonObject, textOf } from '../../domain/json.ts';
import { followPath, isWholePath } from '../../domain/json-path.ts';
import { toolCallsIn } from '../../domain/reported-calls.ts';
import type { HttpSend } from '../../domain/sweep-spec.ts';
import type { ToolCall } from '../../domain/transcript.ts';
import { joinToolCalls } from '../chat-model/event-stream.ts';
import { checkSize } from '../reply-size.ts';
import type { HttpAnswer } from './exchange.ts';

/** Reads what is asked of an answer; throws a `Fault` bad_reply, blame target, that says what came instead. */
export type AnswerReader = {
  /** The value at a path; `undefined` where it leads nowhere. */
  find(path: string): Json | undefined;
  /**
   * The text at a path: text, a list of parts, or other JSON as text; empty for null. Of a stream, the texts of all
   * chunks that count, in order.
   */
  text(path: string): string;
  /** Empty where the path leads nowhere. */
  textIfAny(path: string): string;
  /** Every value at a path: one, or one a chunk. */
  findAll(path: string): readonly Json[];
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
  const { chunks } = answer;
  const findIn = (path: string, values: readonly Json[]): readonly Json[] =>
    values.map((value) => followPath(value, path)).filter((value) => value !== undefined);
  const findAll = (path: string): readonly Json[] => {
    if (chunks !== undefined)
      return findIn(
        path,
        chunks.map(({ value }) => value),
      );
    if (answer.json !== undefined) return findIn(path, [answer.json]);
    if (isWholePath(path)) return [answer.text];
    throw bad(problemOf(answer));
  };
  const textsAt = (path: string): readonly string[] => {
    const counting = chunks?.filter((chunk) => chunk.counts).map(({ value }) => value);
    return (counting === undefined ? findAll(path) : findIn(path, counting)).map(textIn);
  };
  const find = (path: string) => findAll(path).at(-1);
  return {
    find,
    findAll,
    bad,
    text: (path) => {
      const texts = textsAt(path);
      if (texts.length === 0)
        throw bad(`answered without ${path}${chunks === undefined ? '' : ' in any chunk that counts'}`);
      return texts.join('');
    },
    textIfAny: (path) => textsAt(path).join(''),
    sessionId: (path) => {
      const value = path === undefined ? undefined : find(path);
      return value === undefined || value === null || value === '' ? undefined : textOf(value);
    },
  };
}

/** Reads the reply to a message: it has text or tool calls, and is no larger than a message may be. */
export function readReply(spec: HttpSend, answer: HttpAnswer, name: AnswerName): TargetReply {
  const reader = readAnswer(answer, name);
  const toolCalls = readToolCalls(spec.toolCalls, reader);
  const hasCalls = toolCalls.length > 0;
  const text = hasCalls ? reader.textIfAny(spec.reply) : reader.text(spec.reply);
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

function readToolCalls(path: string | undefined, reader: AnswerReader): readonly ToolCall[] {
  if (path === undefined) return [];
  const values = reader.findAll(path).filter((value) => value !== null);
  const pieces = values.flatMap((value): readonly Json[] => (Array.isArray(value) ? value : [value]));
  // In a stream, models cut one call into pieces that share an index.
  const isCut = values.length > 1 && pieces.some((piece) => isJsonObject(piece) && piece.index !== undefined);
  const calls = toolCallsIn(isCut ? joinToolCalls([{ tool_calls: pieces }]) : pieces);
  if (calls === undefined)
    throw reader.bad(
      `answered with tool calls at ${path} that cannot be read (a name, and arguments that are a map)`,
    );
  return calls;
}

function problemOf({ text, contentType = '' }: HttpAnswer): string {
  if (text.trim() === '') return 'answered with an empty body';
  const isStream = /event-stream|ndjson|jsonl/.test(contentType) || /^(?:data|event):/.test(text);
  return isStream
    ? 'answered with a stream (write `streaming: {}` beside its reply)'
    : 'answered with text that is not JSON';
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
