import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Store } from '../../activities/ports.ts';
import { inStore, putNew, readText, storeUnavailable } from './files.ts';
import { createFolderSync } from './folder-sync.ts';
import { openJournal, readJournal } from './journal.ts';
import { removeLeftovers, removeSweep, sizeOfSweep } from './removal.ts';
import { putResult, putShardResults, readResult, readShardResults } from './results.ts';
import {
  createSweep,
  listSweeps,
  putCheckSet,
  putReport,
  readReport,
  readShard,
  readSweep,
} from './sweeps.ts';

/**
 * A store in a folder of this machine or of a shared POSIX volume (with hard links and fsync). The folder is made
 * with the first thing that is written.
 */
export function createFileStore(folder: string): Store {
  const store = resolve(folder);
  const syncUpTo = createFolderSync();
  return {
    address: store,
    createSweep: (record, shards) => createSweep(store, record, shards),
    readSweep: (sweep) => readSweep(store, sweep),
    putCheckSet: (sweep, checkSet) => putCheckSet(store, sweep, checkSet),
    listSweeps: () => listSweeps(store),
    readShard: (sweep, shard) => readShard(store, sweep, shard),
    openJournal: (run, writer) => openJournal(store, run, writer, syncUpTo),
    readJournal: (run) => readJournal(store, run),
    putResult: (result) => putResult(store, result, syncUpTo),
    readResult: (run) => readResult(store, run),
    putShardResults: (sweep, shard, results) => putShardResults(store, sweep, shard, results),
    readShardResults: (sweep, shard) => readShardResults(store, sweep, shard),
    putReport: (sweep, report) => putReport(store, sweep, report),
    readReport: (sweep) => readReport(store, sweep),
    sizeOfSweep: (sweep) => sizeOfSweep(store, sweep),
    removeSweep: (sweep) => removeSweep(store, sweep),
    removeLeftovers: (before) => removeLeftovers(store, before),
    probe: () => probe(store),
  };
}

/** Does once everything that the store needs of its folder: new file, fsync, hard link, read, delete. */
async function probe(store: string): Promise<void> {
  const file = join(store, `.probe-${randomUUID()}`);
  const text = randomUUID();
  await putNew(file, text, store);
  const found = await readText(file);
  await inStore(file, () => rm(file));
  if (found !== text) throw storeUnavailable(file, 'it does not hold what was written to it');
}
