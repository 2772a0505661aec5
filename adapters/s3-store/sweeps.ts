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
import { withStoredCheckSets } from '../file-store/check-sets.ts';
import { storeUnavailable } from '../file-store/files.ts';
import { mapParallel } from '../file-store/parallel.ts';
import { checkSetFile, reportFile, shardFile, sweepFile, sweepFolder } from '../file-store/paths.ts';
import type { Bucket } from './bucket.ts';
import type { Exclusive } from './exclusive.ts';

const requestsAtOnce = 32;

/**
 * Creates a sweep with its shards, or finds that there is one. Objects cannot be renamed together, so each creator
 * writes its shards in a folder named by the hash of their content, and then `sweep.json`, which says that hash: the
 * one whose `sweep.json` is there has created the sweep, shards and all.
 */
export async function createSweep(
  bucket: Bucket,
  exclusive: Exclusive,
  record: SweepRecord,
  shards: readonly ShardRecord[],
): Promise<'created' | 'exists'> {
  const key = sweepFile(bucket.place.prefix, record.id);
  if ((await bucket.markOf(key)) !== undefined) return 'exists';
  await mapParallel(shards, requestsAtOnce, (shard) =>
    bucket.put(shardKey(bucket, record, shard.shard), encodeShard(shard)),
  );
  return (await exclusive.putNew(key, encodeSweep(record))) ? 'created' : 'exists';
}

/** The record of a sweep with its check sets, or undefined where there is none. */
export async function readSweep(bucket: Bucket, sweep: string): Promise<SweepRecord | undefined> {
  const planned = await readPlanned(bucket, sweep);
  if (planned === undefined) return undefined;
  const folder = sweepFolder(bucket.place.prefix, sweep);
  return withStoredCheckSets(planned, folder, bucket.read, bucket.addressOf);
}

/** Puts a check set where there is none of its number yet: false where there was one. */
export function putCheckSet(
  bucket: Bucket,
  exclusive: Exclusive,
  sweep: string,
  checkSet: CheckSet,
): Promise<boolean> {
  const key = checkSetFile(sweepFolder(bucket.place.prefix, sweep), checkSet.number);
  return exclusive.putNew(key, encodeCheckSet(checkSet));
}

/** The record of a sweep as it was planned. */
async function readPlanned(bucket: Bucket, sweep: string): Promise<SweepRecord | undefined> {
  const key = sweepFile(bucket.place.prefix, sweep);
  const text = await bucket.read(key);
  return text === undefined ? undefined : parseSweep(text, bucket.addressOf(key));
}

/** The ids of all sweeps, sorted. */
export async function listSweeps(bucket: Bucket): Promise<readonly string[]> {
  const { prefix } = bucket.place;
  const names = (await bucket.folders(prefix === '' ? '' : `${prefix}/`)).filter(
    (name) => !name.startsWith('.'),
  );
  const marks = await mapParallel(names, requestsAtOnce, (name) => bucket.markOf(sweepFile(prefix, name)));
  return names.filter((_, index) => marks[index] !== undefined).sort();
}

/** The runs of a shard. Throws `Fault` store_unavailable where its object is gone. */
export async function readShard(bucket: Bucket, sweep: string, shard: number): Promise<ShardRecord> {
  const record = await readPlanned(bucket, sweep);
  const key = record === undefined ? undefined : shardKey(bucket, record, shard);
  const text = key === undefined ? undefined : await bucket.read(key);
  if (key === undefined || text === undefined) {
    const missing = key ?? shardFile(sweepFolder(bucket.place.prefix, sweep), shard);
    throw storeUnavailable(bucket.addressOf(missing), 'there is no such shard');
  }
  return parseShard(text, bucket.addressOf(key));
}

/** Writes the report anew. */
export async function putReport(bucket: Bucket, sweep: string, report: Json): Promise<void> {
  await bucket.put(reportFile(bucket.place.prefix, sweep), `${JSON.stringify(report, null, 2)}\n`);
}

/** The report, or undefined where none was written yet. */
export async function readReport(bucket: Bucket, sweep: string): Promise<Json | undefined> {
  const text = await bucket.read(reportFile(bucket.place.prefix, sweep));
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}

function shardKey(bucket: Bucket, { id, hash }: SweepRecord, shard: number): string {
  const inFolder = shardFile(sweepFolder(bucket.place.prefix, id), shard);
  return inFolder.replace(/[^/]+$/, (name) => `${hash}/${name}`);
}
