import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CheckSet } from '../../domain/check-set.ts';
import type { Json } from '../../domain/json.ts';
import type { ShardRecord, SweepRecord } from '../../domain/sweep-record.ts';
import {
  encodeCheckSet,
  encodeShard,
  encodeSweep,
  parseShard,
  parseSweep,
} from '../../formats/sweep-record.ts';
import { withStoredCheckSets } from './check-sets.ts';
import {
  hasCode,
  inStore,
  listNames,
  makeFolder,
  putNew,
  readText,
  replace,
  storeUnavailable,
  sync,
  syncFolders,
  writeDurably,
} from './files.ts';
import { mapParallel } from './parallel.ts';
import { checkSetFile, reportFile, shardFile, sweepFile, sweepFolder } from './paths.ts';

const writesAtOnce = 16;

/**
 * Creates a sweep with its shards, or finds that there is one. The folder is written under another name and then
 * renamed, which fails where there is one: so neither a crash nor a second creator leaves half a sweep, or the
 * shards of one with the record of the other.
 */
export async function createSweep(
  store: string,
  record: SweepRecord,
  shards: readonly ShardRecord[],
): Promise<'created' | 'exists'> {
  const folder = sweepFolder(store, record.id);
  if ((await readText(sweepFile(store, record.id))) !== undefined) return 'exists';
  const temporary = join(store, `.${randomUUID()}.tmp`);
  return inStore(folder, async () => {
    try {
      await writeSweep(temporary, record, shards);
      return await publish(temporary, folder);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  });
}

/** The record of a sweep with its check sets, or undefined where there is none. */
export async function readSweep(store: string, sweep: string): Promise<SweepRecord | undefined> {
  const file = sweepFile(store, sweep);
  const text = await readText(file);
  if (text === undefined) return undefined;
  return withStoredCheckSets(parseSweep(text, file), sweepFolder(store, sweep), readText);
}

/** Puts a check set where there is none of its number yet: false where there was one. */
export async function putCheckSet(store: string, sweep: string, checkSet: CheckSet): Promise<boolean> {
  const folder = sweepFolder(store, sweep);
  return putNew(checkSetFile(folder, checkSet.number), encodeCheckSet(checkSet), folder);
}

/** The ids of all sweeps, sorted. */
export async function listSweeps(store: string): Promise<readonly string[]> {
  const names = (await listNames(store)).filter((name) => !name.startsWith('.'));
  const isSweep = await mapParallel(names, writesAtOnce, async (name) =>
    (await listNames(join(store, name))).includes('sweep.json'),
  );
  return names.filter((_, index) => isSweep[index]).sort();
}

/** The runs of a shard. Throws `Fault` store_unavailable where its file is gone. */
export async function readShard(store: string, sweep: string, shard: number): Promise<ShardRecord> {
  const file = shardFile(sweepFolder(store, sweep), shard);
  const text = await readText(file);
  if (text === undefined) throw storeUnavailable(file, 'there is no such shard');
  return parseShard(text, file);
}

/** Writes the report anew. */
export async function putReport(store: string, sweep: string, report: Json): Promise<void> {
  const text = `${JSON.stringify(report, null, 2)}\n`;
  await replace(reportFile(store, sweep), text, sweepFolder(store, sweep));
}

/** The report, or undefined where none was written yet. */
export async function readReport(store: string, sweep: string): Promise<Json | undefined> {
  const text = await readText(reportFile(store, sweep));
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}

async function writeSweep(
  folder: string,
  record: SweepRecord,
  shards: readonly ShardRecord[],
): Promise<void> {
  await makeFolder(join(folder, 'shards'));
  await mapParallel(shards, writesAtOnce, (shard) =>
    writeDurably(shardFile(folder, shard.shard), encodeShard(shard)),
  );
  await writeDurably(join(folder, 'sweep.json'), encodeSweep(record));
  await syncFolders(join(folder, 'shards'), folder);
}

async function publish(temporary: string, folder: string): Promise<'created' | 'exists'> {
  try {
    await rename(temporary, folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    const isThere = (await listNames(folder)).includes('sweep.json');
    if (isThere) return 'exists';
    throw storeUnavailable(folder, 'the folder is in use, but not by a sweep');
  }
  await sync(dirname(folder));
  return 'created';
}
