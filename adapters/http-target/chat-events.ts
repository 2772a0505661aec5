import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { Chunk } from './stream.ts';

/** The reply in the events of a chat endpoint, as `{ text, tool_calls, session_id?, metadata? }`, or what is wrong. */
export type ChatEvents = { readonly reply: JsonObject } | { readonly problem: string };

type Reply = {
  text: string;
  readonly calls: Map<string, JsonObject>;
  sessionId?: Json;
  traceId?: Json;
};

/**
 * Puts a reply together: text deltas are appended, a finished message takes their place, a function call counts once
 * by its call id (its arguments come with the finished item), a metadata event names thread and trace.
 */
export function readChatEvents(chunks: readonly Chunk[]): ChatEvents {
  const reply: Reply = { text: '', calls: new Map() };
  for (const { event, value } of chunks) {
    if (!isJsonObject(value)) return { problem: 'streamed an event that is not an object' };
    const problem = applyEvent(reply, typeof value.type === 'string' ? value.type : event, value);
    if (problem !== undefined) return { problem };
  }
  const { text, calls, sessionId, traceId } = reply;
  return {
    reply: {
      text,
      tool_calls: [...calls.values()],
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      ...(traceId === undefined ? {} : { metadata: { trace_id: traceId } }),
    },
  };
}

function applyEvent(reply: Reply, type: string, event: JsonObject): string | undefined {
  if (type === 'error' || type.endsWith('.failed') || (type === '' && event.error !== undefined))
    return 'streamed an error';
  if (type.endsWith('text.delta')) reply.text += textOfPart(event.delta ?? event.text);
  else if (/output_item\.(?:added|done)$/.test(type) && isJsonObject(event.item))
    applyItem(reply, type.endsWith('done'), event.item);
  else if (type === 'metadata' || type.endsWith('.metadata')) applyMetadata(reply, event);
  return undefined;
}

function applyItem(reply: Reply, isDone: boolean, item: JsonObject): void {
  if (item.type === 'message' && isDone) {
    reply.text = Array.isArray(item.content)
      ? item.content.map(textOfPart).join('')
      : textOfPart(item.content);
  }
  if (item.type !== 'function_call' || typeof item.name !== 'string') return;
  const id = String(item.call_id ?? item.id ?? reply.calls.size);
  const args = isDone ? argsIn(item.arguments) : (reply.calls.get(id)?.args ?? {});
  reply.calls.set(id, { name: item.name, args });
}

function applyMetadata(reply: Reply, event: JsonObject): void {
  const inner = [event.metadata, event.data].find(isJsonObject) ?? {};
  const found: JsonObject = { ...inner, ...event };
  const sessionId = found.threadId ?? found.thread_id;
  const traceId = found.traceId ?? found.trace_id;
  if (sessionId !== undefined) reply.sessionId = sessionId;
  if (traceId !== undefined) reply.traceId = traceId;
}

/** Arguments that were cut off are none. */
function argsIn(value: Json | undefined): JsonObject {
  try {
    const args: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return isJsonObject(args) ? args : {};
  } catch {
    return {};
  }
}

function textOfPart(part: Json | undefined): string {
  if (typeof part === 'string') return part;
  return isJsonObject(part) && typeof part.text === 'string' ? part.text : '';
}
