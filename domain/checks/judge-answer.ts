import type { JudgeAnswer } from '../check.ts';
import { isJsonObject, type Json, type JsonObject, textOf } from '../json.ts';

/** What a judge said. `score` is absent where the answer could not be read. */
export type Opinion = { readonly reason: string; readonly score?: number };

/** In characters: results stay small whatever a judge writes. */
const longestReason = 2_000;

/** The JSON Schema of a judge's answer: the reason comes before the answer, so that it is thought before it is given. */
export function answerSchema(answer: JudgeAnswer): JsonObject {
  return {
    type: 'object',
    properties: {
      reason: {
        type: 'string',
        description: 'What in the record speaks for and against, in one to three sentences.',
      },
      answer: answerProperty(answer),
    },
    required: ['reason', 'answer'],
    additionalProperties: false,
  };
}

function answerProperty(answer: JudgeAnswer): JsonObject {
  const description = answerRule(answer);
  switch (answer.kind) {
    case 'pass_fail':
      return { type: 'string', enum: ['pass', 'fail'], description };
    case 'scale':
      return { type: 'number', description };
    case 'choices':
      return { type: 'string', enum: Object.keys(answer.scores), description };
  }
}

/** What may be answered, in words. */
export function answerRule(answer: JudgeAnswer): string {
  switch (answer.kind) {
    case 'pass_fail':
      return 'pass or fail';
    case 'scale':
      return `a number on the scale from ${answer.from} to ${answer.to}`;
    case 'choices':
      return `one of: ${Object.keys(answer.scores).join(', ')}`;
  }
}

/** Reads a judge's reply: arguments of a forced tool, JSON, or text whose last `answer:` counts. The same for all judges. */
export function readOpinion(
  reply: { readonly text: string; readonly args?: JsonObject },
  answer: JudgeAnswer,
): Opinion {
  const fields = reply.args ?? jsonIn(reply.text) ?? fieldsIn(reply.text);
  const said = typeof fields.reason === 'string' ? fields.reason.trim() : '';
  const reason = said === '' ? 'the judge gave no reason' : said.slice(0, longestReason);
  const score = fields.answer === undefined ? undefined : scoreOf(fields.answer, answer);
  return { reason, ...(score === undefined ? {} : { score }) };
}

/** The score of a raw answer; undefined where it cannot be read or lies outside what may be answered. */
export function scoreOf(raw: Json, answer: JudgeAnswer): number | undefined {
  switch (answer.kind) {
    case 'pass_fail':
      return yesNoScores.get(plain(raw));
    case 'scale': {
      const number = typeof raw === 'boolean' ? undefined : numberIn(plain(raw), answer.to);
      return number !== undefined && number >= answer.from && number <= answer.to ? number : undefined;
    }
    case 'choices': {
      const chosen = Object.keys(answer.scores).find((name) => plain(name) === plain(raw));
      return chosen === undefined ? undefined : answer.scores[chosen];
    }
  }
}

const yesNoScores: ReadonlyMap<string, number> = new Map([
  ...['true', 'yes', 'pass', 'passed', '1'].map((word) => [word, 1] as const),
  ...['false', 'no', 'fail', 'failed', '0'].map((word) => [word, 0] as const),
]);

/** Lower case, without the quotes, stars, brackets and the full stop that models put around an answer. */
function plain(raw: Json): string {
  return textOf(raw)
    .toLowerCase()
    .replace(/^[\s"'`*_[(]+|[\s"'`*_\])]+$/g, '')
    .replace(/\.$/, '')
    .trim();
}

/** A number, or `4/5` where 5 is the scale's end. */
function numberIn(text: string, end: number): number | undefined {
  const match = /^([+-]?(?:\d+(?:\.\d+)?|\.\d+))(?:\s*\/\s*(\d+(?:\.\d+)?))?$/.exec(text);
  if (match === null) return undefined;
  const [, number, outOf] = match;
  return outOf !== undefined && Number(outOf) !== end ? undefined : Number(number);
}

/** The JSON object of a text, with or without other text around it. */
function jsonIn(text: string): JsonObject | undefined {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start === -1 || end < start) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    return isJsonObject(value) && 'answer' in value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `answer: X` on a line of its own, the last one; the reason is what stands before it. */
function fieldsIn(text: string): JsonObject {
  const line = [...text.matchAll(/^[\s*_#>"'`-]*answer[\s*_"'`]*[:=](.+)$/gim)].at(-1);
  const said = line?.[1];
  if (line === undefined || said === undefined) return { reason: text };
  return { reason: text.slice(0, line.index).replace(/^[\s*_]*reason[\s*_]*:\s*/i, ''), answer: said };
}
