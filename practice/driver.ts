import type { DriverReason } from '../domain/ending.ts';
import { driverPrompt, endConversationTool } from '../domain/managed-prompt.ts';
import { stableHash } from '../domain/random.ts';
import type { Answer } from './answer.ts';
import { chooseText } from './choice.ts';
import { type Fact, type Facts, factsOf, isEmptyBrief } from './facts.ts';
import { asks, confirms, offers, refuses } from './hearing.ts';
import { canEnd, type PracticeRequest, systemTextOf, textsOf } from './request.ts';

/** What the driver has to go by: its brief, and what it said and heard so far. */
type Situation = {
  readonly facts: Facts;
  readonly said: readonly string[];
  /** What the target said, in order; the last is to be answered. */
  readonly heard: readonly string[];
  /** Decides between phrasings: a hash of the seed and the brief. */
  readonly taste: number;
};

const refusalsBeforeGivingUp = 2;
const repeatsBeforeStuck = 3;

/**
 * The next message of the practice driver. It opens with its wish, tells a fact when it is asked for it, says yes
 * to offers, insists once, and ends the conversation: `goal_met` after a confirmation, `refused` after the second no,
 * `stuck` when it hears the same for the third time. A brief without a wish or a fact is talked about without end.
 */
export function driverAnswer(request: PracticeRequest, seed: number): Answer {
  const situation = situationOf(request, seed);
  if (isEmptyBrief(situation.facts)) return { kind: 'text', text: plainText(situation.said.length + 1) };
  const reason = reasonToEnd(situation);
  if (reason !== undefined) return farewell(reason, request);
  return { kind: 'text', text: messageOf(situation) };
}

/** A short text of a side that has nothing to go by. */
export function plainText(count: number): string {
  return `This is message ${count}, please go on.`;
}

function situationOf(request: PracticeRequest, seed: number): Situation {
  const brief = briefOf(systemTextOf(request));
  const said = textsOf(request, 'assistant');
  const firstSaid = request.messages.findIndex((message) => message.role === 'assistant');
  const later = firstSaid === -1 ? [] : request.messages.slice(firstSaid);
  const heard = later.filter((message) => message.role === 'user').map((message) => message.text);
  return { facts: factsOf(brief), said, heard, taste: stableHash(seed, brief) };
}

function reasonToEnd({ facts, heard }: Situation): DriverReason | undefined {
  const last = heard.at(-1);
  if (last === undefined) return undefined;
  if (confirms(last, facts.awaits)) return 'goal_met';
  if (refuses(last) && heard.filter(refuses).length >= refusalsBeforeGivingUp) return 'refused';
  return heard.filter((text) => text === last).length >= repeatsBeforeStuck ? 'stuck' : undefined;
}

function messageOf(situation: Situation): string {
  const { facts, heard, said, taste } = situation;
  const last = heard.at(-1);
  if (last === undefined) return said.length === 0 ? opening(situation) : nudge(situation, '');
  const wanted = asks(last) ? facts.facts.find((fact) => isAskedFor(fact, last)) : undefined;
  if (wanted !== undefined && !offers(last)) return tell(wanted, facts.angry, taste);
  if (offers(last)) return facts.angry ? 'Yes, of course. Do it now.' : 'Yes, please.';
  if (refuses(last))
    return facts.angry ? 'That is not acceptable. Think again.' : 'Are you sure? It matters to me.';
  return nudge(situation, last);
}

function opening({ facts, taste }: Situation): string {
  const want =
    facts.want === undefined ? `I am writing about my ${facts.facts[0]?.name}.` : `I want ${facts.want}.`;
  const wait = facts.since === undefined ? '' : ` I have waited ${facts.since}.`;
  const hello = facts.angry
    ? chooseText(['This is outrageous!', 'I have had enough!', 'Listen!'], taste, 'opening')
    : chooseText(['Hello.', 'Hi there.', 'Good morning.'], taste, 'opening');
  return `${hello} ${want}${wait}`;
}

function tell(fact: Fact, angry: boolean, taste: number): string {
  const plain = [
    `My ${fact.name} is ${fact.value}.`,
    `It is ${fact.value}.`,
    `Sure, ${fact.name} ${fact.value}.`,
  ];
  const sharp = [
    `${fact.value}! How often do I have to say it?`,
    `My ${fact.name} is ${fact.value}. Hurry up!`,
  ];
  return chooseText(angry ? sharp : plain, taste, 'tell', fact.name);
}

function nudge({ facts, said, taste }: Situation, last: string): string {
  const subject = facts.want ?? `an answer about my ${facts.facts[0]?.name}`;
  const texts = [
    `I still want ${subject}.`,
    `As I said, I want ${subject}.`,
    `I do not know more. I want ${subject}.`,
  ];
  return chooseText(texts, taste, 'nudge', said.length, last);
}

/** Whether a question names a fact, by any of its words. */
function isAskedFor(fact: Fact, question: string): boolean {
  const text = question.toLowerCase();
  return fact.name.split(' ').some((word) => word.length > 2 && text.includes(word));
}

function farewell(reason: DriverReason, request: PracticeRequest): Answer {
  const closing = closings[reason];
  if (!canEnd(request)) return { kind: 'text', text: `${closing}\n[[end: ${reason}]]` };
  return { kind: 'tool_call', name: endConversationTool.name, args: { reason, closing_message: closing } };
}

/** The author's own text: what stands before the managed block. */
function briefOf(prompt: string): string {
  const [firstLine = ''] = driverPrompt({ prompt: '', managed: true, tools: true }).trim().split('\n');
  return prompt.split(firstLine)[0] ?? prompt;
}

const closings: Readonly<Record<DriverReason, string>> = {
  goal_met: 'Thank you, that is all I wanted.',
  refused: 'Then I have to live with that. Goodbye.',
  stuck: 'We are going round in circles. Goodbye.',
  other: 'Goodbye.',
};
