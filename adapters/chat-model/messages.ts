import type { ChatMessage } from '../../activities/ports.ts';
import type { JsonObject } from '../../domain/json.ts';

/** Says that a conversation begins, where the model has to speak first. Never part of a transcript. */
export const openingText = '(The conversation begins.)';
/** Asks for the next message, where the model spoke last. Never part of a transcript. */
export const goOnText = '(Please go on.)';
/** Stands for an empty message: most servers refuse empty texts. */
export const nothingText = '(no text)';

type System = Extract<ChatMessage, { readonly role: 'system' | 'user' }>;
type Spoken = System | Exclude<ChatMessage, System>;

/**
 * The messages in the form that the strictest servers take: at most one system message, first; then user, then
 * assistant and user in turns, the results of tools straight after their calls; no empty texts and no empty lists.
 */
export function toWireMessages(messages: readonly ChatMessage[]): readonly JsonObject[] {
  const system = messages.filter((message) => message.role === 'system' && hasText(message.content));
  const wire: JsonObject[] = takeTurns(messages.filter((message) => message.role !== 'system')).map(toWire);
  if (system.length === 0) return wire;
  return [{ role: 'system', content: system.map((message) => message.content).join('\n\n') }, ...wire];
}

function takeTurns(messages: readonly Spoken[]): readonly Spoken[] {
  const turns: Spoken[] = [];
  if (messages[0]?.role !== 'user') turns.push({ role: 'user', content: openingText });
  for (const message of messages) {
    const last = turns.at(-1);
    const merged = last === undefined ? undefined : merge(last, message);
    if (merged === undefined) turns.push(message);
    else turns[turns.length - 1] = merged;
  }
  if (turns.at(-1)?.role === 'assistant') turns.push({ role: 'user', content: goOnText });
  return turns;
}

/** Two messages of the same side in a row as one; undefined for all others. */
function merge(a: Spoken, b: Spoken): Spoken | undefined {
  const content = [a.content, b.content].filter(hasText).join('\n\n');
  if (a.role === 'user' && b.role === 'user') return { role: 'user', content };
  if (a.role !== 'assistant' || b.role !== 'assistant') return undefined;
  return { role: 'assistant', content, toolCalls: [...(a.toolCalls ?? []), ...(b.toolCalls ?? [])] };
}

function toWire(message: Spoken): JsonObject {
  const content = hasText(message.content) ? message.content : nothingText;
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content };
    case 'assistant': {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) return { role: 'assistant', content };
      return {
        role: 'assistant',
        content: hasText(message.content) ? message.content : null,
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: 'function',
          // Servers parse the arguments again, and fail on those that were cut off.
          function: { name: call.name, arguments: JSON.stringify(call.args ?? {}) },
        })),
      };
    }
  }
}

function hasText(text: string): boolean {
  return text.trim() !== '';
}
