import type { JournalWriter, Store } from '../activities/ports.ts';
import type { MetricMakers } from './metric-makers.ts';

/** Watches a store: how long each operation took, and how many failed. */
export type MeterStore = (store: Store) => Store;

type Timed = <T>(operation: string, work: Promise<T>) => Promise<T>;

/** A meter for stores, which times every operation with `now` (milliseconds). */
export function storeMetrics({ counter, histogram }: MetricMakers, now: () => number): MeterStore {
  const durations = histogram('regatta_store_duration_seconds');
  const failures = counter('regatta_store_failures_total');
  const timed: Timed = async (operation, work) => {
    const began = now();
    try {
      const value = await work;
      durations.observe({ operation }, (now() - began) / 1000);
      return value;
    } catch (error) {
      failures.inc({ operation });
      throw error;
    }
  };
  return (store) => meteredStore(store, timed);
}

function meteredStore(store: Store, timed: Timed): Store {
  return {
    ...store,
    createSweep: (record, shards) => timed('create_sweep', store.createSweep(record, shards)),
    readSweep: (sweep) => timed('read_sweep', store.readSweep(sweep)),
    listSweeps: () => timed('list_sweeps', store.listSweeps()),
    readShard: (sweep, shard) => timed('read_shard', store.readShard(sweep, shard)),
    readJournal: (run) => timed('read_journal', store.readJournal(run)),
    putResult: (result) => timed('put_result', store.putResult(result)),
    readResult: (run) => timed('read_result', store.readResult(run)),
    putShardResults: (sweep, shard, results) =>
      timed('put_shard_results', store.putShardResults(sweep, shard, results)),
    readShardResults: (sweep, shard) => timed('read_shard_results', store.readShardResults(sweep, shard)),
    putReport: (sweep, report) => timed('put_report', store.putReport(sweep, report)),
    readReport: (sweep) => timed('read_report', store.readReport(sweep)),
    probe: () => timed('probe', store.probe()),
    openJournal: async (run, writer) =>
      meteredWriter(await timed('open_journal', store.openJournal(run, writer)), timed),
  };
}

function meteredWriter(writer: JournalWriter, timed: Timed): JournalWriter {
  return {
    writer: writer.writer,
    folded: writer.folded,
    append: (events) => timed('append', writer.append(events)),
    flush: () => timed('flush', writer.flush()),
    close: () => writer.close(),
  };
}
