import type { Context } from '@temporalio/activity';
import type { Catalog } from './catalog.ts';
import type { Dependencies } from './ports.ts';
import type { ConverseInput } from './run-work.ts';
import { openStretch, type Signals, type Stretch } from './stretch.ts';

/** One execution of an activity: what it works with, and how it is told to stop. */
export type Attempt = {
  readonly deps: Dependencies;
  readonly catalog: Catalog;
  readonly signals: Signals;
  readonly info: Pick<Context['info'], 'currentAttemptScheduledTimestampMs' | 'attempt'>;
};

/** Opens the run's journal for this attempt, does the work, and leaves a note that nothing was in flight. */
export async function withStretch<T extends { readonly kind: string }>(
  { deps, catalog, signals, info }: Attempt,
  input: ConverseInput,
  work: (stretch: Stretch) => Promise<T>,
): Promise<T> {
  const plan = await catalog.run(input);
  const writer = `${info.currentAttemptScheduledTimestampMs}-${info.attempt}-${deps.nonce()}`;
  const journal = await deps.store.openJournal(input.run, writer);
  try {
    const stretch = openStretch({ deps, plan, input, signals, journal });
    const end = await work(stretch);
    // What is settled was released before its result was written.
    if (end.kind !== 'settled') await stretch.release();
    return end;
  } finally {
    await journal.close();
  }
}
