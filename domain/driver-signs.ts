import { isJsonObject } from './json.ts';

/** A sign that a driver's message is not what a person would write. */
export type DriverSign = {
  readonly name: string;
  readonly means: string;
  readonly shows: (text: string) => boolean;
};

const helper = String.raw`(?:how (?:can|may|could) i (?:help|assist|be of (?:help|assistance|service))(?: you)?|what (?:can|may) i (?:do|help you with)(?: for you)? today|i(?:'m| am) here to (?:help|assist)(?: you)?|i(?:'d| would) be (?:happy|glad|pleased) to (?:help|assist) you|i(?:'m| am) (?:happy|glad) to (?:help|assist) you|is there anything else (?:that )?i can (?:help|assist|do for) you|(?:thank you|thanks) for (?:contacting|reaching out to|calling|choosing)\b|i(?:'ve| have) (?:processed|issued|initiated) (?:your|the) refund|let me (?:know )?(?:how|if|what) i can (?:help|assist))`;

const machine = `(?:(?:large |ai )?language model|ai(?: (?:assistant|model|chatbot|agent|system))?|(?:virtual|digital) assistant|chatbot)`;

const speaksAsMachine = new RegExp(
  String.raw`\bas an? ${machine},? i\b|\b(?:i am|i'm|i'm only|i am only|i'm just|i am just) (?:only |just )?an? ${machine}(?=[.,;!?]|$| (?:and|so|but|that|trained|created|developed|designed|made)\b)`,
  'i',
);

const callKeys = [
  'name',
  'tool',
  'tool_name',
  'function',
  'function_call',
  'tool_call',
  'tool_calls',
  'action',
];
const argumentKeys = [
  'arguments',
  'args',
  'parameters',
  'params',
  'input',
  'action_input',
  'closing_message',
];

/** The published list, in the order in which signs are reported. Ordinary messages of customers show none of them. */
export const driverSignList: readonly DriverSign[] = [
  { name: 'empty', means: 'there is nothing to read', shows: (text) => !/[\p{L}\p{N}\p{S}?!]/u.test(text) },
  { name: 'tool_json', means: 'the JSON of a tool call', shows: (text) => isCallJson(withoutFence(text)) },
  {
    name: 'tool_markup',
    means: 'the markup of a tool call',
    shows: (text) =>
      /<\/?\|?(?:tool_calls?|function_calls?|function=|invoke|tool_use|end_conversation)\b|\[TOOL_CALLS?\]/i.test(
        text,
      ),
  },
  {
    name: 'tool_code',
    means: 'a tool call written as code',
    shows: (text) =>
      /^[ \t]*(?:await[ \t]+)?end_conversation[ \t]*\(/im.test(text) ||
      /^\s*[a-z]+(?:_[a-z]+)+\s*\((?:\s*\)|\s*\{|\s*\w+\s*=)[\s\S]*\)\s*;?\s*$/i.test(withoutFence(text)),
  },
  {
    name: 'offers_help',
    means: 'offers help like an assistant',
    shows: (text) => new RegExp(String.raw`\b${helper}`, 'i').test(straightQuotes(text)),
  },
  {
    name: 'speaks_as_ai',
    means: 'speaks as a machine',
    shows: (text) => speaksAsMachine.test(straightQuotes(text)),
  },
  {
    name: 'narrates_target',
    means: "writes the other side's lines",
    // A label alone may be data ("Agent: Maria"); a sentence after it is a line of a play.
    shows: (text) =>
      /^[ \t*_>[(]*(?:agent|assistant|target|bot|support agent|customer (?:service|support)(?: agent)?|representative)[\])*_]*[^\S\n]*:[^\S\n]*[*_]*[^\S\n]*(?:\S+[^\S\n]+){2}\S/im.test(
        text,
      ),
  },
];

/** The names of the signs that a driver's message shows: empty, like a tool call, or out of its role. */
export function driverSigns(text: string): readonly string[] {
  return driverSignList.filter((sign) => sign.shows(text)).map((sign) => sign.name);
}

function straightQuotes(text: string): string {
  return text.replaceAll('’', "'");
}

/** The content of a code fence that is the whole message, else the message. */
function withoutFence(text: string): string {
  return /^\s*```\w*\s*\n?([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
}

function isCallJson(text: string): boolean {
  const json = /^\s*[[{][\s\S]*[\]}]\s*$/.test(text) ? text : undefined;
  if (json === undefined) return false;
  try {
    const parsed: unknown = JSON.parse(json);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isJsonObject(first) && isCall(Object.keys(first));
  } catch {
    return false;
  }
}

function isCall(keys: readonly string[]): boolean {
  const names = keys.some((key) => callKeys.includes(key));
  return (
    keys.some((key) => ['tool_calls', 'function_call', 'closing_message'].includes(key)) ||
    (names && keys.some((key) => argumentKeys.includes(key)))
  );
}
