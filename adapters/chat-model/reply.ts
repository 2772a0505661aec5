import { randomUUID } from 'node:crypto';
import type { AskedToolCall, ChatRequest } from '../../activities/ports.ts';
import { estimateTokens } from '../../domain/estimate-tokens.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { TokenUsage } from '../../domain/usage.ts';
import { normaliseCode } from './complaint.ts';
import { finishReasons } from './failure-table.ts';
import { withoutThoughts } from './thoughts.ts';

/** What a completion comes to. `broken` says what is wrong with it. */
export type ReplyReading =
  | { readonly kind: 'reply'; readonly text: string; readonly toolCalls: readonly AskedToolCall[] }
  | { readonly kind: 'context_full' | 'content_refused' | 'too_large' }
  /** `wordless`: it was whole, but said nothing. */
  | { readonly kind: 'broken'; readonly reason: string; readonly wordless?: true };

/** A longer message (text and arguments, in bytes) fits neither journals nor the next call. */
const longestMessage = 256 * 1024;

/** Reads the first choice of a completion. */
export function readReply(completion: Json): ReplyReading {
  const choices = isJsonObject(completion) ? completion.choices : undefined;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  if (!isJsonObject(choice)) return { kind: 'broken', reason: 'no completion in it' };
  const reason = finishReasonOf(choice);
  if (finishReasons.contentRefused.includes(reason)) return { kind: 'content_refused' };
  if (finishReasons.contextFull.includes(reason)) return { kind: 'context_full' };
  const message = isJsonObject(choice.message) ? choice.message : {};
  const text = textOf(message);
  const toolCalls = toolCallsOf(message);
  if (sizeOf(text, toolCalls) > longestMessage) return { kind: 'too_large' };
  if (finishReasons.broken.includes(reason)) return { kind: 'broken', reason: `it stopped with ${reason}` };
  if (text.trim() === '' && toolCalls.length === 0) {
    const why = `neither text nor tool calls${reason === '' ? '' : ` (${reason})`}`;
    return { kind: 'broken', reason: why, wordless: true };
  }
  return { kind: 'reply', text, toolCalls };
}

/** The tokens that a completion reports; what is missing, not a number or impossibly 0 is estimated. */
export function readUsage(
  completion: Json,
  request: ChatRequest,
  reply: { text: string; toolCalls: readonly AskedToolCall[] },
): TokenUsage {
  const usage = isJsonObject(completion) && isJsonObject(completion.usage) ? completion.usage : {};
  const total = countOf(usage.total_tokens);
  const reportedInput = countOf(usage.prompt_tokens ?? usage.input_tokens);
  const reportedOutput = countOf(usage.completion_tokens ?? usage.output_tokens);
  const input = reportedInput || (total ?? 0) - (reportedOutput ?? 0);
  const output = reportedOutput || (total ?? 0) - (reportedInput ?? 0);
  return {
    inputTokens: input > 0 ? input : estimateInput(request),
    outputTokens: output > 0 ? output : estimateOutput(reply),
    estimated: !(input > 0 && output > 0),
  };
}

/** About how many tokens a request has. */
export function estimateInput(request: ChatRequest): number {
  const texts = request.messages.map((message) => message.content).join('\n');
  const tools = (request.tools ?? []).length === 0 ? '' : JSON.stringify(request.tools);
  // Roles and separators cost about four tokens a message.
  return estimateTokens(texts) + estimateTokens(tools) + 4 * request.messages.length;
}

function estimateOutput({ text, toolCalls }: { text: string; toolCalls: readonly AskedToolCall[] }): number {
  return Math.max(1, estimateTokens(text + toolCalls.map((call) => call.name + call.argsText).join('')));
}

function countOf(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0
    ? Math.round(number)
    : undefined;
}

function finishReasonOf(choice: JsonObject): string {
  const reason = choice.finish_reason ?? choice.finishReason ?? choice.stop_reason;
  if (typeof reason !== 'string') return '';
  return normaliseCode(reason).replace(/^(finish_reason|finishreason)_/, '');
}

/** The text that is meant for the other side: thoughts lie in fields or parts of their own, or at its start. */
function textOf(message: JsonObject): string {
  const text = joinParts(message.content);
  const refusal = typeof message.refusal === 'string' ? message.refusal : '';
  return text === '' ? refusal : withoutThoughts(text);
}

function joinParts(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (isJsonObject(content)) return joinParts([content]);
  if (!Array.isArray(content)) return '';
  return content
    .map((part: Json) => {
      if (typeof part === 'string') return part;
      const isText =
        (isJsonObject(part) && (part.type ?? 'text') === 'text') ||
        (isJsonObject(part) && part.type === 'output_text');
      return isText && typeof part.text === 'string' ? part.text : '';
    })
    .join('');
}

function toolCallsOf(message: JsonObject): readonly AskedToolCall[] {
  const listed: readonly JsonObject[] = [message.tool_calls ?? []].flat().filter(isJsonObject);
  const older: readonly JsonObject[] = [{ function: message.function_call ?? null }];
  const ids = new Set<string>();
  return (listed.length > 0 ? listed : older).flatMap((call) => {
    const asked = isJsonObject(call.function) ? call.function : call;
    if (typeof asked.name !== 'string' || asked.name === '') return [];
    const given = typeof call.id === 'string' || typeof call.id === 'number' ? String(call.id) : '';
    const id = given === '' || ids.has(given) ? ownId() : given;
    ids.add(id);
    return [{ id, name: asked.name, ...readArgs(asked.arguments) }];
  });
}

/** Nine letters and digits: the strictest form that a server asks for. */
function ownId(): string {
  return randomUUID().replaceAll('-', '').slice(0, 9);
}

function readArgs(value: Json | undefined): Pick<AskedToolCall, 'args' | 'argsText'> {
  if (value === undefined || value === null) return { args: {}, argsText: '{}' };
  if (typeof value !== 'string') {
    const argsText = JSON.stringify(value);
    return isJsonObject(value) ? { args: value, argsText } : { argsText };
  }
  if (value.trim() === '') return { args: {}, argsText: '{}' };
  const args = parseArgs(value);
  return args === undefined ? { argsText: value } : { args, argsText: value };
}

function parseArgs(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    // Some servers encode them twice, or say null for none.
    if (typeof value === 'string') return parseArgs(value);
    if (value === null) return {};
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function sizeOf(text: string, toolCalls: readonly AskedToolCall[]): number {
  return toolCalls.reduce((sum, call) => sum + Buffer.byteLength(call.argsText), Buffer.byteLength(text));
}
