import { isJsonObject, type Json } from '../domain/json.ts';
import type { ToolCall } from '../domain/transcript.ts';

/**
 * Tool calls in the shapes that targets report them: `{function: {name, arguments}}`, `{name, args | arguments |
 * input | parameters}` or plain names, one or a list. `undefined` where one of them has no name.
 */
export function toolCallsIn(value: Json | undefined): readonly ToolCall[] | undefined {
  if (value === undefined || value === null) return [];
  const calls = (Array.isArray(value) ? value : [value]).map(toolCallIn);
  return calls.every((call) => call !== undefined) ? calls : undefined;
}

function toolCallIn(value: Json): ToolCall | undefined {
  if (typeof value === 'string') return value === '' ? undefined : { name: value };
  if (!isJsonObject(value)) return undefined;
  const source = isJsonObject(value.function) ? value.function : value;
  const name = source.name ?? value.name ?? value.tool_name ?? value.toolName ?? value.tool;
  if (typeof name !== 'string' || name === '') return undefined;
  const args = argsIn(source.arguments ?? source.args ?? source.input ?? source.parameters);
  const result = value.result ?? value.output;
  return { name, ...(args === undefined ? {} : { args }), ...(result === undefined ? {} : { result }) };
}

/** Arguments may be JSON text; empty text is no arguments, cut-off text could not be captured. */
function argsIn(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string') return value ?? undefined;
  if (value.trim() === '') return {};
  try {
    return JSON.parse(value) as Json;
  } catch {
    return undefined;
  }
}
