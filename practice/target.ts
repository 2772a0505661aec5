import { equalJson, isJsonObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Answer } from './answer.ts';
import { plainText } from './driver.ts';
import {
  type PracticeMessage,
  type PracticeRequest,
  type PracticeTool,
  parseObject,
  textsOf,
} from './request.ts';

/** Tools that only look: called as soon as their arguments are known. Others need to be asked for by name. */
const lookUps = /^(?:find|get|look_?up|search|list|check|read|fetch)/i;

/**
 * The next reply of the practice target. With tools it calls the first one that fits and whose arguments it knows,
 * asks for what is missing, and answers from the results; without, it gives a support desk's short answer.
 */
export function targetAnswer(request: PracticeRequest): Answer {
  if (request.tools.length === 0) return { kind: 'text', text: deskText(request) };
  const known = textsOf(request, 'user').join('\n');
  const results = resultsIn(request.messages);
  const fitting = request.tools.filter((tool) => fits(tool, known));
  for (const tool of fitting) {
    const args = argumentsFor(tool, known, results);
    if (args === undefined) return { kind: 'text', text: question(tool, known, results) };
    if (!wasCalled(tool, args, request.messages)) return { kind: 'tool_call', name: tool.name, args };
    if (results.error !== undefined) break;
  }
  return { kind: 'text', text: resultText(request.messages) };
}

function deskText(request: PracticeRequest): string {
  const said = textsOf(request, 'user');
  const known = said.join('\n');
  const order = textFor('order', known) ?? textFor('booking', known);
  if (order !== undefined) return `Thank you. I have noted order ${order}, it is being looked after.`;
  return said.length > 1 ? plainText(said.length) : 'How can I help? Please tell me your order number.';
}

/** Whether a tool is worth calling: it only looks, or the customer used a word of its name. */
function fits(tool: PracticeTool, known: string): boolean {
  if (lookUps.test(tool.name)) return true;
  const text = known.toLowerCase();
  return tool.name.split('_').some((word) => word.length > 3 && text.includes(word.toLowerCase()));
}

function wasCalled(tool: PracticeTool, args: JsonObject, messages: readonly PracticeMessage[]): boolean {
  return messages.some(({ calls }) =>
    calls.some((call) => call.name === tool.name && equalJson(call.args, args)),
  );
}

/** The results of all tool calls so far, later ones over earlier ones; an error counts only while it is the last word. */
function resultsIn(messages: readonly PracticeMessage[]): JsonObject {
  return messages
    .filter((message) => message.role === 'tool')
    .reduce<JsonObject>((results, { text }) => {
      const { error: _, ...earlier } = results;
      return { ...earlier, ...parseObject(text) };
    }, {});
}

/** The arguments of a call; undefined where a required one is not known. */
function argumentsFor(tool: PracticeTool, known: string, results: JsonObject): JsonObject | undefined {
  const properties = isJsonObject(tool.parameters.properties) ? tool.parameters.properties : {};
  const args: Record<string, Json> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const value = valueFor(name, isJsonObject(schema) ? schema : {}, known, results);
    if (value !== undefined) args[name] = value;
  }
  return requiredOf(tool).every((name) => Object.hasOwn(args, name)) ? args : undefined;
}

function requiredOf(tool: PracticeTool): readonly string[] {
  const { required } = tool.parameters;
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function valueFor(name: string, schema: JsonObject, known: string, results: JsonObject): Json | undefined {
  const result = results[name];
  if (result !== undefined) return result;
  if (Array.isArray(schema.enum)) {
    return schema.enum.find((value) => known.toLowerCase().includes(String(value).toLowerCase()));
  }
  const text = textFor(name, known);
  if (text === undefined) return undefined;
  return schema.type === 'number' || schema.type === 'integer' ? Number(text.replace(/^\D+/, '')) : text;
}

function textFor(name: string, known: string): string | undefined {
  if (/mail/i.test(name)) return /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/.exec(known)?.[0];
  if (/date|day/i.test(name))
    return /\b\d{4}-\d\d-\d\d\b|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b/i.exec(known)?.[0];
  const word = name.split(/_|(?=[A-Z])/)[0] ?? name;
  const beside = new RegExp(
    `\\b${word}\\b(?: (?:number|id))?(?: is)?[\\s:#]*((?=[\\w-]*\\d)[\\w-]+)`,
    'i',
  ).exec(known)?.[1];
  const isNumbered = /order|booking|number|id$|ticket|account/i.test(name);
  return beside ?? (isNumbered ? known.match(/\b(?:[A-Z]{1,3}-?\d+|\d{3,})\b/g)?.at(-1) : undefined);
}

function question(tool: PracticeTool, known: string, results: JsonObject): string {
  const lacking = requiredOf(tool).find((name) => valueFor(name, {}, known, results) === undefined) ?? 'wish';
  return `Of course. What is your ${lacking.replaceAll('_', ' ')}?`;
}

function resultText(messages: readonly PracticeMessage[]): string {
  const last = messages.at(-1);
  if (last?.role !== 'tool') return 'Is there anything else that I can do?';
  const result = parseObject(last.text);
  if (result === undefined) return last.text;
  if (typeof result.error === 'string') return `I am sorry, that did not work: ${result.error}.`;
  const facts = Object.entries(result).map(([key, value]) => `${key.replaceAll('_', ' ')} ${String(value)}`);
  return `Here is what I have: ${facts.join(', ')}.`;
}
