import type { Store } from '../../activities/ports.ts';
import { parseBucketAddress } from './address.ts';
import { openBucket } from './bucket.ts';
import { createExclusive } from './exclusive.ts';
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

export type BucketTimes = {
  /** How long a request is made again while what it is refused may pass. */
  readonly patienceMs: number;
  /** How long a put-if-absent waits for others where the server ignores conditions: longer than any write takes. */
  readonly settleMs: number;
};

const usualTimes: BucketTimes = { patienceMs: 12_000, settleMs: 2_000 };

/**
 * A store in a bucket, at `s3://BUCKET/PREFIX`, on any server that speaks S3 and lists and reads what was written as
 * soon as it was (as AWS, Google, Cloudflare, MinIO, Ceph and SeaweedFS do). It takes credentials, region and endpoint
 * as AWS's own tools do, and connects with the first request. The keys are the paths of a store in a folder, save that
 * `shards/` has a folder between, and that a part that is being written is a folder of pieces.
 *
 * Requests of a run of five turns that one writer plays: 16 PUTs (two a turn, and six), a LIST, a GET of the result
 * when its shard is compacted, and a DELETE of the pieces. Throws `UsageError` for an address of another shape.
 */
export function createS3Store(address: string, times: BucketTimes = usualTimes): Store {
  const bucket = openBucket(parseBucketAddress(address), times.patienceMs);
  const exclusive = createExclusive(bucket, times.settleMs);
  return {
    address: bucket.addressOf(bucket.place.prefix).replace(/\/$/, ''),
    createSweep: (record, shards) => createSweep(bucket, exclusive, record, shards),
    readSweep: (sweep) => readSweep(bucket, sweep),
    putCheckSet: (sweep, checkSet) => putCheckSet(bucket, exclusive, sweep, checkSet),
    listSweeps: () => listSweeps(bucket),
    readShard: (sweep, shard) => readShard(bucket, sweep, shard),
    openJournal: (run, writer) => openJournal(bucket, run, writer),
    readJournal: (run) => readJournal(bucket, run),
    putResult: (result) => putResult(bucket, exclusive, result),
    readResult: (run) => readResult(bucket, run),
    putShardResults: (sweep, shard, results) => putShardResults(bucket, sweep, shard, results),
    readShardResults: (sweep, shard) => readShardResults(bucket, sweep, shard),
    putReport: (sweep, report) => putReport(bucket, sweep, report),
    readReport: (sweep) => readReport(bucket, sweep),
    sizeOfSweep: (sweep) => sizeOfSweep(bucket, sweep),
    removeSweep: (sweep) => removeSweep(bucket, sweep),
    removeLeftovers: (before) => removeLeftovers(bucket, before),
    probe: () => exclusive.probe(),
  };
}
