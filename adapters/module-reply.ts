import type { SessionStart, TargetReply } from '../activities/ports.ts';
import { Fault } from '../domain/fault.ts';
import { isJsonObject, type Json, type JsonObject, textOf } from '../domain/json.ts';
import { toolCallsIn } from '../domain/reported-calls.ts';
import { textIn } from './http-target/reply.ts';
import { checkSize } from './reply-size.ts';

/** Where an answer of user code comes from. */
export type Answerer = { readonly file: string; readonly name: string; readonly ms: number };

/** What an answer is when it is none of the known shapes: text only, or any JSON as the prediction of a model. */
export type Otherwise = 'refuse' | 'prediction';

/**
 * A reply of user code: text, `{ text, toolCalls?, sessionId?, end?, metadata? }`, an invocation
 * `{ modelPrediction, modelInput?, modelOutputMetadata?, toolCalls?, error? }` (names with underscores, too), or a pair
 * of prediction and metadata. A prediction that is not text becomes JSON. Throws `Fault` bad_reply, or module_error
 * where an invocation brings an error.
 */
export function readModuleReply(value: Json | undefined, from: Answerer, otherwise: Otherwise): TargetReply {
  const bad = (problem: string) =>
    new Fault('bad_reply', `${from.file} ${from.name}() ${problem}`, {
      blame: 'target',
      endpoint: from.file,
    });
  const answer = asReply(value, from, otherwise);
  if (answer === undefined) {
    const got = JSON.stringify(value ?? null).slice(0, 200);
    throw bad(`answered with ${got} where text, { text } or { modelPrediction } was expected`);
  }
  const { sessionId, end, metadata, text: said = null } = answer;
  const text = textIn(said);
  const toolCalls = toolCallsIn(answer.toolCalls);
  if (toolCalls === undefined)
    throw bad('answered with a tool call that cannot be read (a name, and args that are a map)');
  if (text.trim() === '' && toolCalls.length === 0 && end !== true)
    throw bad('answered with neither text nor tool calls');
  const reply: TargetReply = {
    text,
    toolCalls,
    ms: from.ms,
    ...(sessionId === undefined || sessionId === null ? {} : { sessionId: textOf(sessionId) }),
    ...(end === true ? { end } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  };
  checkSize(reply, { what: `${from.file} ${from.name}()`, endpoint: from.file });
  return reply;
}

/** The session's own id, and the greeting: nothing, an id, `{ sessionId?, reply? }`, or the pair of both. */
export function readModuleStart(value: Json | undefined, from: Answerer): SessionStart {
  const { sessionId, reply } = isJsonObject(value)
    ? value
    : Array.isArray(value)
      ? { sessionId: value[0], reply: value[1] }
      : { sessionId: value, reply: undefined };
  const greeting = reply === undefined || reply === null ? undefined : readModuleReply(reply, from, 'refuse');
  return {
    ms: from.ms,
    ...(sessionId === undefined || sessionId === null ? {} : { sessionId: textOf(sessionId) }),
    ...(greeting === undefined ? {} : { greeting }),
  };
}

function asReply(value: Json | undefined, from: Answerer, otherwise: Otherwise): JsonObject | undefined {
  if (typeof value === 'string') return { text: value };
  if (Array.isArray(value) && isPair(value)) return invoked(value[0] ?? null, value[1]);
  if (isJsonObject(value)) {
    const prediction = value.modelPrediction ?? value.model_prediction;
    const error = isJsonObject(value.error) ? value.error.message : value.error;
    if (error !== undefined && error !== null && value.text === undefined) throw failed(textOf(error), from);
    if (prediction !== undefined || 'modelPrediction' in value || 'model_prediction' in value) {
      const metadata = value.modelOutputMetadata ?? value.model_output_metadata;
      const input = value.modelInput ?? value.model_input;
      return {
        ...invoked(prediction ?? null, metadata, input),
        toolCalls: value.toolCalls ?? value.tool_calls ?? null,
      };
    }
    if (otherwise === 'refuse') return value;
  }
  return otherwise === 'prediction' && value !== undefined ? invoked(value) : undefined;
}

/** JSON has no tuples: a prediction that is itself an object is no first half of a pair. */
function isPair(value: readonly Json[]): boolean {
  const [prediction, metadata] = value;
  return value.length === 2 && isJsonObject(metadata) && !isJsonObject(prediction);
}

function invoked(prediction: Json, metadata: Json = null, input: Json = null): JsonObject {
  const known = isJsonObject(metadata) ? metadata : metadata === null ? {} : { value: metadata };
  const withInput = input === null ? known : { ...known, model_input: input };
  return {
    text: prediction === null ? null : textOf(prediction),
    ...(Object.keys(withInput).length === 0 ? {} : { metadata: withInput }),
  };
}

function failed(message: string, { file, name }: Answerer): Fault {
  return new Fault('module_error', `${file} ${name}() answered with an error: ${message}`, {
    blame: 'target',
    endpoint: file,
  });
}
