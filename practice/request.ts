import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts';
import { endConversationTool, openingCue } from '../domain/managed-prompt.ts';
import { stableHash } from '../domain/random.ts';
import type { Role } from '../domain/usage.ts';

export type PracticeCall = { readonly id: string; readonly name: string; readonly args: JsonObject };

export type PracticeMessage = {
  readonly role: string;
  readonly text: string;
  readonly calls: readonly PracticeCall[];
};

export type PracticeTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
};

/** A chat completion request, as far as the practice model cares. */
export type PracticeRequest = {
  readonly model: string;
  readonly messages: readonly PracticeMessage[];
  readonly tools: readonly PracticeTool[];
  /** The tool that must be called; absent where the choice is free. */
  readonly forcedTool?: string;
  /** The JSON Schema that the answer must fit. */
  readonly schema?: JsonObject;
  readonly maxTokens?: number;
  readonly seed: number;
  readonly stream: boolean;
  readonly streamUsage: boolean;
  /** The top-level keys that were sent. */
  readonly keys: readonly string[];
};

/** The most tokens that a request may ask for and still count as a probe. */
const probeTokens = 16;

/** Reads a request's body. Throws an Error that says what is wrong with it. */
export function parseRequest(body: string): PracticeRequest {
  const json = parseObject(body);
  if (json === undefined) throw new Error('the body is not a JSON object');
  if (typeof json.model !== 'string' || json.model === '') throw new Error("'model' must be a text");
  if (!Array.isArray(json.messages) || json.messages.length === 0) {
    throw new Error("'messages' must be a list with at least one message");
  }
  const tools = listOf(json.tools).map(parseTool);
  const forcedTool = forcedToolOf(json.tool_choice, tools);
  const schema = objectAt(json.response_format, 'json_schema', 'schema');
  const maxTokens = json.max_completion_tokens ?? json.max_tokens;
  return {
    model: json.model,
    messages: json.messages.map(parseMessage),
    tools,
    ...(forcedTool !== undefined && { forcedTool }),
    ...(schema !== undefined && { schema }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
    seed: typeof json.seed === 'number' ? json.seed : 0,
    stream: json.stream === true,
    streamUsage: isJsonObject(json.stream_options) && json.stream_options.include_usage === true,
    keys: Object.keys(json),
  };
}

/** Whether a request only asks if somebody is there (at most 16 tokens). */
export function isProbe(request: PracticeRequest): boolean {
  return request.maxTokens !== undefined && request.maxTokens <= probeTokens;
}

/**
 * Who is asked to speak: a driver can end the conversation (by tool or by marker) or is told that it is connected, a
 * judge owes an answer of a given form or reads a rubric, everybody else is a target.
 */
export function roleOf(request: PracticeRequest): Role {
  const first = request.messages.find((message) => message.role === 'user')?.text ?? '';
  if (canEnd(request) || marksItsEnd(request) || first === openingCue) return 'driver';
  if (request.schema !== undefined || request.forcedTool !== undefined) return 'judge';
  return /\brubric\b/i.test(systemTextOf(request)) ? 'judge' : 'target';
}

/** Whether the request offers the tool that ends a conversation. */
export function canEnd(request: PracticeRequest): boolean {
  return request.tools.some((tool) => tool.name === endConversationTool.name);
}

/** Whether the request asks for a text marker at the end of a conversation. */
function marksItsEnd(request: PracticeRequest): boolean {
  return systemTextOf(request).includes('[[end: REASON]]');
}

/** The text of the system messages. */
export function systemTextOf(request: PracticeRequest): string {
  return textsOf(request, 'system').join('\n');
}

/** The texts of one role, in order. */
export function textsOf(request: PracticeRequest, role: string): readonly string[] {
  return request.messages.filter((message) => message.role === role).map((message) => message.text);
}

/**
 * The conversation that a call belongs to: the word after `conversation` in its first messages where that has a digit
 * (`conversation 17`), else a hash of the role and of those messages. Calls with equal first messages are one.
 */
export function conversationOf(request: PracticeRequest, role: Role): string {
  const opening = request.messages
    .slice(0, 2)
    .map((message) => message.text)
    .join('\n');
  const named = /\bconversation[\s#:]+((?=[\w-]*\d)[\w-]+)/i.exec(opening)?.[1];
  return named ?? `${role}-${stableHash(role, opening).toString(36)}`;
}

/** What a request breaks of the rule that chat templates hold: at most one system message, then user and assistant in turn. */
export function disorderOf(request: PracticeRequest): string | undefined {
  const [first, ...rest] = request.messages;
  const dialog = (first?.role === 'system' ? rest : request.messages).filter(
    (message) => message.role !== 'tool' && !(message.role === 'assistant' && message.calls.length > 0),
  );
  if (dialog.some((message) => message.role === 'system'))
    return 'only the first message may be a system message';
  if (dialog[0]?.role !== 'user') return 'after the system message the first message must be of the user';
  if (dialog.some((message) => message.text === '')) return 'a message has no text';
  const doubled = dialog.some((message, index) => message.role === dialog[index - 1]?.role);
  return doubled && dialog.length === request.messages.length - (first?.role === 'system' ? 1 : 0)
    ? 'roles must alternate between user and assistant'
    : undefined;
}

function parseMessage(value: Json): PracticeMessage {
  if (!isJsonObject(value) || typeof value.role !== 'string') throw new Error('a message has no role');
  return {
    role: value.role === 'developer' ? 'system' : value.role,
    text: contentText(value.content),
    calls: listOf(value.tool_calls).map(parseCall),
  };
}

function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

function parseCall(value: Json): PracticeCall {
  const fn = objectAt(value, 'function') ?? {};
  const id = isJsonObject(value) && typeof value.id === 'string' ? value.id : '';
  const args = typeof fn.arguments === 'string' ? parseObject(fn.arguments) : undefined;
  return { id, name: typeof fn.name === 'string' ? fn.name : '', args: args ?? {} };
}

function parseTool(value: Json): PracticeTool {
  const fn = objectAt(value, 'function');
  if (fn === undefined || typeof fn.name !== 'string') throw new Error('a tool has no name');
  return {
    name: fn.name,
    description: typeof fn.description === 'string' ? fn.description : '',
    parameters: objectAt(fn, 'parameters') ?? {},
  };
}

function forcedToolOf(choice: Json | undefined, tools: readonly PracticeTool[]): string | undefined {
  const name = choice === 'required' ? tools[0]?.name : objectAt(choice, 'function')?.name;
  if (typeof name !== 'string') return undefined;
  if (!tools.some((tool) => tool.name === name)) throw new Error(`'tool_choice' names no tool: ${name}`);
  return name;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject | undefined {
  const [key, ...rest] = path;
  if (!isJsonObject(value)) return undefined;
  return key === undefined ? value : objectAt(value[key], ...rest);
}

/** The JSON object that a text holds; undefined where it holds none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
