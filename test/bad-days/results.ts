import assert from 'node:assert/strict';
import type { RunResult } from '../../domain/run.ts';
import { resultsOf, wordsOf } from '../test-fleet.ts';
import type { User } from './user.ts';

/** Every run's result. */
export async function readResults(user: User, sweep: string): Promise<readonly RunResult[]> {
  const record = await user.store.readSweep(sweep);
  assert.ok(record !== undefined, `no sweep ${sweep}`);
  return resultsOf(user.store, record);
}

export type Told = {
  readonly gate: string;
  readonly halted: { readonly reason: string; readonly detail: string } | null;
  readonly runs: Readonly<Record<string, number>>;
  readonly usage: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly retries: Readonly<Record<string, number>>;
};

/** The report that a command printed as one object. */
export function told(stdout: string): Told {
  return JSON.parse(stdout) as Told;
}

/** Every run's words, by scenario. */
export async function transcripts(
  user: User,
  sweep: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const words = new Map<string, readonly string[]>();
  for (const { run } of await readResults(user, sweep)) {
    words.set(run.slice(sweep.length + 1), await wordsOf(user.store, run));
  }
  return words;
}

/** Asserts that every one of the planned runs ended once, and so. */
export async function assertOutcomes(
  user: User,
  sweep: string,
  expected: { readonly [outcome in RunResult['outcome']]?: number },
): Promise<void> {
  const results = await readResults(user, sweep);
  assert.equal(new Set(results.map(({ run }) => run)).size, results.length, 'a run has two results');
  const counts: Record<string, number> = {};
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
  assert.deepEqual(counts, expected);
}

/** The code and the blame of a run that something ended. */
export function causeOf({
  blame,
  ending,
  fault,
}: RunResult): readonly [string | undefined, string | undefined] {
  return [fault?.code ?? (ending?.kind === 'target_error' ? ending.code : undefined), blame];
}
