import type { Store } from '../../activities/ports.ts';
import { closestWord } from '../../domain/closest.ts';
import type { RunPlan } from '../../domain/run.ts';
import type { Scenario } from '../../domain/scenario.ts';
import type { ShardRecord, SweepRecord } from '../../domain/sweep-record.ts';
import { UsageError } from '../../domain/usage-error.ts';

/**
 * The sweep of that id in the store.
 * @throws UsageError with the closest id, or where to look, where there is none.
 */
export async function findSweep(store: Store, id: string): Promise<SweepRecord> {
  const record = id.includes('/') ? undefined : await store.readSweep(id);
  if (record !== undefined) return record;
  throw new UsageError({
    message: `there is no sweep ${id} in ${store.address}`,
    hint: closestId(
      id,
      await store.listSweeps(),
      'regatta list shows what is there; --store names another place',
    ),
  });
}

export type FoundRun = {
  readonly record: SweepRecord;
  readonly shard: ShardRecord;
  readonly run: RunPlan;
  readonly scenario: Scenario;
};

/**
 * The run of that id among those that its sweep has planned.
 * @throws UsageError with the closest id where there is none.
 */
export async function findRun(store: Store, id: string): Promise<FoundRun> {
  const record = await findSweep(store, id.split('/')[0] ?? '');
  const known: string[] = [];
  for (let index = 0; index < record.planned.shards; index += 1) {
    const shard = await store.readShard(record.id, index);
    const run = shard.runs.find((candidate) => candidate.id === id);
    const scenario = shard.scenarios.find((candidate) => candidate.id === run?.scenario);
    if (run !== undefined && scenario !== undefined) return { record, shard, run, scenario };
    known.push(...shard.runs.map((planned) => planned.id));
  }
  throw new UsageError({
    message: `the sweep ${record.id} has no run ${id}`,
    hint: closestId(id, known, `regatta show ${record.id} lists its runs`),
  });
}

// Comparing with every one of a hundred thousand ids would take seconds.
const mostCompared = 5_000;

/** Ids begin alike: only what differs says how close they are. */
function closestId(id: string, known: readonly string[], otherwise: string): string {
  const prefix = id.includes('/') ? `${id.split('/')[0]}/` : '';
  const words = known.slice(0, mostCompared).map((each) => each.slice(prefix.length));
  const closest = closestWord(id.slice(prefix.length), words);
  return closest === undefined ? otherwise : `did you mean "${prefix}${closest}"?`;
}
