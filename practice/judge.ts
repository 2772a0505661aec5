import { isJsonObject, type JsonObject } from '../domain/json.ts';
import type { Side } from '../domain/transcript.ts';
import type { Answer } from './answer.ts';
import { type PracticeRequest, systemTextOf } from './request.ts';
import { fitSchema } from './schema-answer.ts';

/** What the practice judge thinks: how well the transcript fits (0 to 1), why, and on which scale it was asked. */
export type Opinion = {
  readonly share: number;
  readonly reason: string;
  readonly scale: { readonly from: number; readonly to: number };
};

const rude = /\b(?:calm down|nonsense|stupid|idiot|shut up|your fault|whatever|stop whining)\b/gi;
const rudeShare = 0.6;

/** Words that say nothing about what was expected. */
const fillers = new Set(
  'about after and any are because been before being but does each for from has have into its not only once settles should stays than that the their them then there they this was were what when which will with without your you'.split(
    ' ',
  ),
);

/** Answers in the way that was asked for: by schema, by a forced tool, or in text that ends with `answer: ...`. */
export function judgeAnswer(request: PracticeRequest): Answer {
  const opinion = opinionOf(request.messages.map((message) => message.text).join('\n'));
  const tool = request.tools.find(({ name }) => name === request.forcedTool);
  if (tool !== undefined) {
    const args = fitSchema(tool.parameters, opinion);
    return { kind: 'tool_call', name: tool.name, args: isJsonObject(args) ? args : {} };
  }
  if (request.schema !== undefined)
    return { kind: 'text', text: JSON.stringify(fitSchema(request.schema, opinion)) };
  const answer = fitSchema(schemaInWords(systemTextOf(request)), opinion);
  return { kind: 'text', text: `${opinion.reason}\nanswer: ${String(answer)}` };
}

/**
 * Judges by words. What was expected are the rubric's words in brackets, in quotes and after `expected:`; the share of
 * them that the replies contain is the opinion, whole where nothing was expected. A rude word costs 0.6.
 */
export function opinionOf(prompt: string): Opinion {
  const { record, rest } = splitPrompt(prompt);
  const judged = linesBy(/\babout the driver\b/i.test(rest) ? 'driver' : 'target', record);
  const said = stemsOf(judged);
  const expected = [...new Set(stemsOf(expectationIn(rest)))];
  const missing = expected.filter((stem) => !said.includes(stem));
  const insults = judged.match(rude) ?? [];
  const found = expected.length === 0 ? 1 : 1 - missing.length / expected.length;
  return {
    share: Math.max(0, found - (insults.length > 0 ? rudeShare : 0)),
    reason: reasonFor(missing, insults),
    scale: scaleIn(rest),
  };
}

function reasonFor(missing: readonly string[], insults: readonly string[]): string {
  const words = missing.length === 0 ? 'Everything expected was said' : `Not said: ${missing.join(', ')}`;
  return insults.length === 0 ? `${words}.` : `${words}. Rude: ${insults.join(', ').toLowerCase()}.`;
}

/** The fenced record, and everything else. Without a fence the whole prompt is both. */
function splitPrompt(prompt: string): { readonly record: string; readonly rest: string } {
  const fenced = /<(transcript-\w+)>([\s\S]*)<\/\1>/.exec(prompt);
  return { record: fenced?.[2] ?? prompt, rest: prompt.replace(fenced?.[0] ?? '', '') };
}

/** The lines of one side: `target (turn 2): "..."`. Without such lines, the whole record. */
function linesBy(side: Side, record: string): string {
  const lines = record.split('\n').filter((line) => line.startsWith(`${side} (turn `));
  return lines.length === 0 ? record : lines.map((line) => line.slice(line.indexOf(':'))).join('\n');
}

function expectationIn(rubric: string): string {
  return [...rubric.matchAll(/\(([^()]+)\)|\bexpected:\s*(.+)|"([^"\n]+)"/gi)]
    .map((match) => match.slice(1).join(' '))
    .join(' ');
}

/** Words by their first six letters, so that `refund` is found in `refunded`; numbers whole, fillers left out. */
function stemsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/\d+(?:[.,]\d+)*|\p{L}{3,}/gu) ?? [];
  return words.filter((word) => !fillers.has(word)).map((word) => word.slice(0, 6));
}

function scaleIn(prompt: string): Opinion['scale'] {
  const scale = /\bscale from (-?[\d.]+) to (-?\d+(?:\.\d+)?)/i.exec(prompt);
  return { from: Number(scale?.[1] ?? 0), to: Number(scale?.[2] ?? 1) };
}

/** What a prompt in words allows as the answer, as a schema. */
function schemaInWords(prompt: string): JsonObject {
  if (/\bscale from\b/i.test(prompt)) return { type: 'number' };
  const choices = /\bThe answer is one of: (.+)\.$/m.exec(prompt)?.[1]?.split(', ');
  return { enum: choices ?? ['pass', 'fail'] };
}
