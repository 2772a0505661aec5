import type { JsonObject } from '../domain/json.ts';
import { outcomes } from '../domain/outcome.ts';
import type { RunResult } from '../domain/run.ts';
import type { Place } from '../domain/usage-error.ts';
import { notStored, parseStored } from './stored-json.ts';

const what = 'the result of a run';

/** One result as one line, with its line end. */
export function encodeResult(result: RunResult): string {
  return `${JSON.stringify(result)}\n`;
}

/** Reads one result. Throws `UsageError` where it is damaged or of a newer schema. */
export function parseResult(line: string, where: Place): RunResult {
  const value = parseStored(line, what, 1, where);
  if (!isResult(value)) throw notStored(what, where);
  return value;
}

/** Reads a file of one result a line; blank lines are fine. Throws `UsageError` that names file and line. */
export function parseResults(text: string, file: string): readonly RunResult[] {
  return text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [parseResult(line, { file, line: index + 1 })]));
}

function isResult(value: JsonObject): value is JsonObject & RunResult {
  return (
    typeof value.run === 'string' &&
    Number.isInteger(value.generation) &&
    outcomes.some((outcome) => outcome === value.outcome) &&
    Array.isArray(value.checks)
  );
}
