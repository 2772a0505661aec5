import type { Mistake } from '../domain/usage-error.ts';

/** The names that thresholds may use. Without `tags` any tag will do. */
export type ThresholdNames = { readonly checks: readonly string[]; readonly tags?: readonly string[] };

/** The text, how far it was read, and what was wrong so far. */
export type Reader = {
  readonly text: string;
  at: number;
  readonly names: ThresholdNames;
  readonly mistakes: Mistake[];
};

/** Reading cannot go on: the mistake is noted already. */
export const stuck: unique symbol = Symbol('stuck');

/** The column of this place, from 1. */
export function column(reader: Reader): number {
  return reader.at + 1;
}

/** Notes a mistake at a column. */
export function fail(reader: Reader, at: number, problem: string, hint?: string): void {
  const message = `threshold "${reader.text}", column ${at}: ${problem}`;
  reader.mistakes.push(hint === undefined ? { message } : { message, hint });
}

/** Reads what matches at this place, after spaces. */
export function take(reader: Reader, pattern: RegExp): RegExpExecArray | undefined {
  reader.at += /^\s*/.exec(reader.text.slice(reader.at))?.[0].length ?? 0;
  const match = new RegExp(`^(?:${pattern.source})`).exec(reader.text.slice(reader.at));
  if (match === null) return undefined;
  reader.at += match[0].length;
  return match;
}

/** What stands at this place, for messages. */
export function found(reader: Reader): string {
  const rest = reader.text.slice(reader.at).trim();
  const [word = ''] = /^(?:[\w^@./%-]+|\S)/.exec(rest) ?? [];
  return word === '' ? 'the end' : `"${word}"`;
}

/** The column, from 1, of what comes next after spaces. */
export function nextColumn(reader: Reader): number {
  take(reader, /(?=.)/);
  return column(reader);
}
