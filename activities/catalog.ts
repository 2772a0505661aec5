import { checkSetOf } from '../domain/check-set.ts';
import { Fault } from '../domain/fault.ts';
import type { RunPlan } from '../domain/run.ts';
import type { Scenario } from '../domain/scenario.ts';
import { type TargetSpec, targetOf } from '../domain/sweep-spec.ts';
import type { ShardRecord, Store, SweepRecord } from './ports.ts';
import type { RunRef } from './run-work.ts';

/** All that is planned for one run. */
export type PlannedRun = {
  readonly sweep: SweepRecord;
  readonly run: RunPlan;
  readonly scenario: Scenario;
  readonly target: TargetSpec;
};

/** Plans, read once a worker. */
export type Catalog = {
  /** With the check sets that came after its plan; they are `checkSet` at least (default 0). */
  sweep(sweep: string, checkSet?: number): Promise<SweepRecord>;
  shard(sweep: string, shard: number): Promise<ShardRecord>;
  run(ref: RunRef): Promise<PlannedRun>;
};

type IndexedShard = {
  readonly record: ShardRecord;
  readonly runs: ReadonlyMap<string, RunPlan>;
  readonly scenarios: ReadonlyMap<string, Scenario>;
};

/** Shards that a worker remembers; neither a plan nor a check set is ever changed, so nothing can go stale. */
const remembered = 64;

/** A catalog over a store. Throws `not_found` with blame configuration where the store lacks the sweep or check set. */
export function createCatalog(store: Store): Catalog {
  const sweeps = new Map<string, Promise<SweepRecord>>();
  const shards = new Map<string, Promise<IndexedShard>>();

  const sweep = (id: string, checkSet = 0) =>
    recall(sweeps, `${id}/${checkSet}`, () => readSweep(store, id, checkSet));
  const shard = (id: string, index: number) =>
    recall(shards, `${id}/${index}`, async () => indexed(await store.readShard(id, index)));

  return {
    sweep,
    shard: async (id, index) => (await shard(id, index)).record,
    async run(ref) {
      const [record, { runs, scenarios }] = await Promise.all([
        sweep(ref.sweep, ref.checkSet),
        shard(ref.sweep, ref.shard),
      ]);
      const run = runs.get(ref.run);
      const scenario = run === undefined ? undefined : scenarios.get(run.scenario);
      if (run === undefined || scenario === undefined) {
        throw new Fault('not_found', `shard ${ref.shard} in ${store.address} has no run ${ref.run}`, {
          blame: 'configuration',
        });
      }
      return { sweep: record, run, scenario, target: targetOf(record.spec, run.variant) };
    },
  };
}

async function readSweep(store: Store, id: string, checkSet: number): Promise<SweepRecord> {
  const record = await store.readSweep(id);
  if (record !== undefined && checkSetOf(record) >= checkSet) return record;
  const what = record === undefined ? `sweep ${id}` : `check set ${checkSet} of sweep ${id}`;
  throw new Fault(
    'not_found',
    `the store ${store.address} has no ${what}; is it the store that the sweep was started with?`,
    {
      blame: 'configuration',
    },
  );
}

function indexed(record: ShardRecord): IndexedShard {
  return {
    record,
    runs: new Map(record.runs.map((run) => [run.id, run])),
    scenarios: new Map(record.scenarios.map((scenario) => [scenario.id, scenario])),
  };
}

/** Remembers what was read; a failed read is forgotten, the oldest makes room. */
async function recall<T>(memory: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const reading = read();
  memory.set(key, reading);
  const oldest = memory.keys().next().value;
  if (memory.size > remembered && oldest !== undefined) memory.delete(oldest);
  try {
    return await reading;
  } catch (error) {
    memory.delete(key);
    throw error;
  }
}
