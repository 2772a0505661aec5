import type { Ending } from '../../domain/ending.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { SweepEnd } from '../../workflows/messages.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { resultsOf, wordsOf } from '../test-fleet.ts';

/** What one run came to. */
export type PlayedRun = {
  readonly outcome: Outcome;
  readonly ending?: Ending['kind'];
  readonly why?: string;
  readonly words: readonly string[];
  /** Of these sessions the journal knows. */
  readonly sessions: readonly string[];
  /** How often the conversation that counts has ended in the journal. */
  readonly endings: number;
  readonly resumptions: number;
  readonly restarted: number;
};

/** What a sweep came to. */
export type Played = {
  readonly planned: number;
  /** Of all results, in the order of the store: a run that has two is in it twice. */
  readonly results: readonly string[];
  /** By scenario and repeat. */
  readonly runs: Readonly<Record<string, PlayedRun>>;
  /** What the workflow counted; absent: it has not ended. */
  readonly counted?: Readonly<Partial<Record<Outcome, number>>>;
};

export async function readPlayed(fleet: Fleet, sweep: string): Promise<Played> {
  const record = await fleet.store.readSweep(sweep);
  if (record === undefined) throw new Error(`there is no sweep ${sweep}`);
  const results = await resultsOf(fleet.store, record);
  const runs: Record<string, PlayedRun> = {};
  for (const { run, outcome, ending, blame, fault, resumptions, restarted } of results) {
    const { events } = await fleet.store.readJournal(run);
    const opened = events.findLastIndex(({ kind }) => kind === 'opened');
    const why = fault ?? (ending?.kind === 'target_error' ? ending : undefined);
    runs[run.slice(sweep.length + 1)] = {
      ...{ outcome, words: await wordsOf(fleet.store, run), resumptions, restarted },
      ...(ending === undefined ? {} : { ending: ending.kind }),
      ...(why === undefined ? {} : { why: `${blame}: ${JSON.stringify(why)}` }),
      sessions: events.flatMap((event) =>
        event.kind === 'session' && event.open && event.id !== undefined ? [event.id] : [],
      ),
      endings: events.slice(opened).filter(({ kind }) => kind === 'ended').length,
    };
  }
  const counted = await countedBy(fleet, sweep);
  return {
    ...{ planned: record.planned.runs, results: results.map(({ run }) => run), runs },
    ...(counted === undefined ? {} : { counted }),
  };
}

async function countedBy(fleet: Fleet, sweep: string): Promise<Played['counted']> {
  const handle = fleet.client.workflow.getHandle(sweep);
  const { status } = await handle.describe();
  if (status.name !== 'COMPLETED') return undefined;
  return ((await handle.result()) as SweepEnd).tally.outcomes;
}
