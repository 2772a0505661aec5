import { isJsonObject, type Json, type JsonObject, jsonIn } from '../../domain/json.ts';

/** A completion put together from a stream of events, or what is wrong with the stream. */
export type StreamReading =
  | { readonly kind: 'completion'; readonly completion: JsonObject }
  | { readonly kind: 'error'; readonly error: Json }
  | { readonly kind: 'garbage' };

/** Whether a body is a stream of events, by its content type or its looks. */
export function isEventStream(body: string, contentType: string | undefined): boolean {
  return (
    contentType?.includes('event-stream') === true || /^\s*(data|event|id|retry)?:/.test(body.slice(0, 100))
  );
}

/** Reads a stream that has ended; the stop mark `[DONE]` may be missing. */
export function readEventStream(body: string): StreamReading {
  const chunks: JsonObject[] = [];
  for (const event of body.split(/\r?\n\r?\n|\r\r/)) {
    const { name, data } = readEvent(event);
    if (data === '' || data === '[DONE]') continue;
    const chunk = jsonIn(data);
    if (name === 'error') return { kind: 'error', error: chunk ?? data };
    if (!isJsonObject(chunk)) return { kind: 'garbage' };
    if (chunk.error !== undefined && chunk.error !== null) return { kind: 'error', error: chunk };
    chunks.push(chunk);
  }
  return { kind: 'completion', completion: joinChunks(chunks) };
}

function readEvent(event: string): { readonly name: string; readonly data: string } {
  const fields = event.split(/\r?\n|\r/);
  const valuesOf = (field: string): readonly string[] =>
    fields.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).trim());
  return { name: valuesOf('event').at(-1) ?? '', data: valuesOf('data').join('\n') };
}

function joinChunks(chunks: readonly JsonObject[]): JsonObject {
  const choices = chunks.flatMap((chunk) => (Array.isArray(chunk.choices) ? chunk.choices.slice(0, 1) : []));
  const firsts = choices.filter(isJsonObject);
  const deltas = firsts.map((choice) => choice.delta ?? choice.message).filter(isJsonObject);
  const text = deltas.map((delta) => (typeof delta.content === 'string' ? delta.content : '')).join('');
  const finishReason = firsts
    .map((choice) => choice.finish_reason)
    .findLast((reason) => typeof reason === 'string');
  const usage = chunks.findLast((chunk) => isJsonObject(chunk.usage))?.usage;
  const message = { content: text, tool_calls: joinToolCalls(deltas) };
  return {
    choices: firsts.length === 0 ? [] : [{ message, finish_reason: finishReason ?? null }],
    usage: usage ?? null,
  };
}

/** Pieces of one call share an index; where servers leave it out, a piece with an id or a name begins a new call. */
export function joinToolCalls(deltas: readonly JsonObject[]): readonly JsonObject[] {
  const calls: { key: Json; id: Json; name: string; text: string }[] = [];
  for (const piece of deltas.flatMap((delta) => (Array.isArray(delta.tool_calls) ? delta.tool_calls : []))) {
    if (!isJsonObject(piece)) continue;
    const part = isJsonObject(piece.function) ? piece.function : {};
    const begins =
      piece.index === undefined && (typeof piece.id === 'string' || typeof part.name === 'string');
    const key = piece.index ?? null;
    let call = begins ? undefined : calls.findLast((one) => one.key === key);
    if (call === undefined) {
      call = { key, id: piece.id ?? null, name: '', text: '' };
      calls.push(call);
    }
    if (typeof part.name === 'string') call.name ||= part.name;
    const args = part.arguments;
    call.text += typeof args === 'string' ? args : isJsonObject(args) ? JSON.stringify(args) : '';
  }
  return calls.map(({ id, name, text }) => ({ id, function: { name, arguments: text } }));
}
