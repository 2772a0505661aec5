import { isJsonObject, type Json } from './json.ts';
import type { ToolCall } from './transcript.ts';

/**
 * Tool calls in the shapes that targets report them, one or a list: `{name, args}`, `{name, arguments}` and
 * `{function: {name, arguments}}`, where arguments are a map, JSON text of one, or left out. `undefined` where one of
 * them is anything else.
 */
export function toolCallsIn(value: Json | undefined): readonly ToolCall[] | undefined {
  if (value === undefined || value === null) return [];
  const calls = (Array.isArray(value) ? value : [value]).map(toolCallIn);
  return calls.every((call) => call !== undefined) ? calls : undefined;
}

function toolCallIn(value: Json): ToolCall | undefined {
  if (!isJsonObject(value)) return undefined;
  const source = isJsonObject(value.function) ? value.function : value;
  const { name } = source;
  if (typeof name !== 'string' || name === '') return undefined;
  const args = argsIn(source.args ?? source.arguments);
  if (args !== undefined && !isJsonObject(args)) return undefined;
  const result = value.result ?? value.output;
  return { name, ...(args === undefined ? {} : { args }), ...(result === undefined ? {} : { result }) };
}

/** Arguments may be JSON text; empty text is no arguments. */
function argsIn(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string') return value ?? undefined;
  if (value.trim() === '') return {};
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
}
