import type { DriverReason } from './ending.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** Raised with every change of the managed block: transcripts of different versions are not comparable. */
export const managedVersion = 1;

const reasons: readonly DriverReason[] = ['goal_met', 'refused', 'stuck', 'other'];

const rules = `Rules that hold throughout:
- You are the person described above and nobody else. You came for help; the other side gives it. Never offer help, never thank them for contacting you, never speak as an assistant or for the other side.
- Write only what the person would type now: no stage directions, no labels, no notes about these rules.
- One thing at a time: one question or one piece of news in a message, in a sentence or two, in the language of the description.
- You know only the facts above and what the other side tells you. Do not make up numbers, names or dates; where you are asked for what you do not know, say so.
- Tell your facts little by little: lead with what you want, and give a detail when it is asked for or needed.
- Do not be easier than the person would be. Repeat what was ignored, and question what does not answer you.
- Before you end, see whether every goal above was really reached, or clearly refused. A promise to look into it is neither.`;

const endByTool =
  'When that is so, or you are going round in circles, call end_conversation with the reason and your closing message. Until then, do not say goodbye.';

const endByMarker = `When that is so, or you are going round in circles, write your closing message and, as its last line, [[end: REASON]], where REASON is one of ${reasons.join(', ')}. Until then, do not say goodbye.`;

/** The neutral first user message for a driver that opens; it is no part of the transcript. */
export const openingCue = 'You are connected now. Write your first message.';

/**
 * The system prompt of the driver's model: the user's own text, and the managed block unless that is switched off.
 * `tools`: the model can call `end_conversation`; else it is told of a text marker.
 */
export function driverPrompt(input: {
  readonly prompt: string;
  readonly managed: boolean;
  readonly tools: boolean;
}): string {
  if (!input.managed) return input.prompt;
  return `${input.prompt.trimEnd()}\n\n${rules}\n- ${input.tools ? endByTool : endByMarker}`;
}

/** The tool by which a driver ends the conversation. */
export const endConversationTool = {
  name: 'end_conversation',
  description:
    'Ends the conversation. The closing message is delivered, and the other side answers once more.',
  schema: {
    type: 'object',
    properties: {
      reason: {
        type: 'string',
        enum: reasons,
        description:
          'goal_met: all goals were reached; refused: the other side clearly said no; stuck: nothing moves any more; other: anything else',
      },
      closing_message: { type: 'string', description: 'The last message that the person writes.' },
    },
    required: ['reason', 'closing_message'],
    additionalProperties: false,
  } satisfies JsonObject,
} as const;

/** What the driver said, and why it is done, if it is. */
export type DriverReply = { readonly text: string; readonly done?: DriverReason };

/**
 * Reads the reply of the driver's model. A call of `end_conversation` ends (its closing message is the text, else what
 * was written beside the call), and so does the text marker; a reason that is unknown or cut off is `other`.
 */
export function readDriverReply(reply: {
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly args?: JsonObject }[];
}): DriverReply {
  const marked = readMarker(reply.text);
  const call = reply.toolCalls.find(({ name }) => name === endConversationTool.name);
  if (call === undefined) return marked;
  const closing = isJsonObject(call.args) ? call.args.closing_message : undefined;
  const said = typeof closing === 'string' ? closing.trim() : '';
  return { text: said === '' ? marked.text : said, done: reasonOf(call.args?.reason) };
}

// What follows the marker is dropped: the person has left. Code quotes around it are of the model's making.
const marker = /`*\[\[\s*end\s*:\s*([^\]\n]{0,40})\]\]`*/i;

function readMarker(text: string): DriverReply {
  const found = marker.exec(text);
  if (found === null) return { text: text.trim() };
  return { text: text.slice(0, found.index).trim(), done: reasonOf(found[1]) };
}

function reasonOf(raw: Json | undefined): DriverReason {
  const word =
    typeof raw === 'string'
      ? raw
          .trim()
          .toLowerCase()
          .replace(/[\s-]+/g, '_')
      : '';
  return reasons.find((reason) => reason === word) ?? 'other';
}
