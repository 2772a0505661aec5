import type { Sees } from '../check.ts';
import { textOf } from '../json.ts';
import type { Message } from '../transcript.ts';
import { asJson, type Evidence, messagesAsked } from './evidence.ts';
import { similarity } from './levenshtein.ts';
import { quote, quoteAll } from './quote.ts';
import { type Finding, yesOrNo } from './verdict.ts';

/** The texts that a check sees, each asked by itself: one that says yes is enough. */
export type SeenTexts = {
  readonly what: 'reply' | 'last reply' | 'transcript';
  readonly texts: readonly string[];
};

/**
 * What `sees` selects: each reply, the last reply, or the transcript as one text of both sides (with the tool calls as
 * JSON lines). Of a check asked at each turn, the replies are that turn's; the transcript is the one so far.
 */
export function textsSeen(evidence: Evidence, sees: Sees): SeenTexts {
  const replies = messagesAsked(evidence)
    .filter((message) => message.by === 'target')
    .map((message) => message.text);
  switch (sees) {
    case 'replies':
      return { what: 'reply', texts: replies };
    case 'last_reply':
      return { what: 'last reply', texts: replies.slice(-1) };
    case 'transcript':
      return { what: 'transcript', texts: [evidence.transcript.map((message) => message.text).join('\n')] };
    case 'transcript_and_tools':
      return { what: 'transcript', texts: [evidence.transcript.flatMap(linesWithTools).join('\n')] };
  }
}

function linesWithTools(message: Message): readonly string[] {
  return [...message.toolCalls.map((call) => textOf(asJson(call))), message.text];
}

/** Whether one seen text holds any, or all, of the wanted parts. `holds` tells for one part. */
export function findParts(
  seen: SeenTexts,
  wanted: { readonly verb: 'contains' | 'matches'; readonly all: boolean; readonly parts: readonly string[] },
  holds: (text: string, part: string) => boolean,
): Finding {
  const { verb, all, parts } = wanted;
  const hit = seen.texts.find((text) =>
    all ? parts.every((part) => holds(text, part)) : parts.some((part) => holds(text, part)),
  );
  const held = all ? parts : parts.filter((part) => hit !== undefined && holds(hit, part)).slice(0, 1);
  if (hit !== undefined) return yesOrNo(true, `${subject(seen, true)} ${verb} ${quoteAll(held)}`);
  const quantity = parts.length === 1 ? '' : all ? 'all of ' : 'any of ';
  return yesOrNo(false, `${subject(seen, false)} ${verb} ${quantity}${quoteAll(parts)}${lastSeen(seen)}`);
}

/** Whether one seen text is the wanted one, white space at both ends aside. */
export function findEqual(seen: SeenTexts, text: string): Finding {
  const yes = seen.texts.some((candidate) => candidate.trim() === text.trim());
  return yesOrNo(yes, `${subject(seen, yes)} equals ${quote(text)}${yes ? '' : lastSeen(seen)}`);
}

/** Whether one seen text is JSON. */
export function findJson(seen: SeenTexts): Finding {
  const yes = seen.texts.some(isJson);
  return yesOrNo(yes, `${subject(seen, yes)} is JSON${yes ? '' : lastSeen(seen)}`);
}

/** The likeness of the seen text that is most like the wanted one. */
export function findSimilar(seen: SeenTexts, text: string): Finding {
  const score = Math.max(0, ...seen.texts.map((candidate) => similarity(candidate, text)));
  const reason = `likeness to ${quote(text)} is ${Math.round(score * 1000) / 1000}${lastSeen(seen)}`;
  return { score, reason };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function subject({ what }: SeenTexts, found: boolean): string {
  if (what === 'reply') return found ? 'a reply' : 'no reply';
  return found ? `the ${what}` : `not the ${what}:`;
}

function lastSeen({ what, texts }: SeenTexts): string {
  const last = texts.at(-1);
  if (last === undefined) return '; there was no reply';
  return what === 'transcript' ? '' : `; the last reply was ${quote(last)}`;
}
