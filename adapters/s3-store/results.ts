import { createHash } from 'node:crypto';
import type { RunPlan, RunResult } from '../../domain/run.ts';
import type { ShardRecord } from '../../domain/sweep-record.ts';
import { encodeResult, parseResult, parseResults } from '../../formats/result-lines.ts';
import { mapParallel } from '../file-store/parallel.ts';
import { generationOf, resultFile, runFolder, shardResultsFile, sweepFolder } from '../file-store/paths.ts';
import type { Bucket, Listed } from './bucket.ts';
import type { Exclusive } from './exclusive.ts';
import { findInFolders } from './search.ts';

const readsAtOnce = 32;

/** Puts a result where there is none of its run and generation yet: false where there was one. */
export async function putResult(bucket: Bucket, exclusive: Exclusive, result: RunResult): Promise<boolean> {
  const key = resultFile(runFolder(bucket.place.prefix, result.run), result.generation);
  return exclusive.putNew(key, encodeResult(result));
}

/** The result of the highest generation. */
export async function readResult(bucket: Bucket, run: string): Promise<RunResult | undefined> {
  const folder = runFolder(bucket.place.prefix, run);
  const newest = newestOf(folder, await bucket.list(`${folder}/result.`));
  return newest === undefined ? undefined : readOne(bucket, newest.key);
}

/** Writes the compacted results of a shard anew. */
export async function putShardResults(
  bucket: Bucket,
  sweep: string,
  shard: number,
  results: readonly RunResult[],
): Promise<void> {
  const key = shardResultsFile(bucket.place.prefix, sweep, shard);
  await bucket.put(key, results.map(encodeResult).join(''));
}

/**
 * The results of a shard in the order of its runs; runs without one are left out. A result's own object takes the
 * place of a compacted line of its own or a lower generation. It is read only where it is not that very line: the
 * listing tells by its MD5.
 */
export async function readShardResults(
  bucket: Bucket,
  sweep: string,
  shard: ShardRecord,
): Promise<readonly RunResult[]> {
  const { prefix } = bucket.place;
  const key = shardResultsFile(prefix, sweep, shard.shard);
  const folderOf = ({ id }: RunPlan): string => runFolder(prefix, id);
  const [text, found] = await Promise.all([
    bucket.read(key),
    findInFolders(bucket, {
      above: `${sweepFolder(prefix, sweep)}/runs/`,
      folders: shard.runs.map(folderOf),
      name: 'result.',
    }),
  ]);
  const lines = parseResults(text ?? '', bucket.addressOf(key));
  const compacted = new Map(lines.map((result) => [result.run, result]));
  const results = await mapParallel(shard.runs, readsAtOnce, async (run) => {
    const line = compacted.get(run.id);
    const newest = newestOf(folderOf(run), found.get(folderOf(run)) ?? []);
    if (newest === undefined || isSettledBy(line, newest)) return line;
    return (await readOne(bucket, newest.key)) ?? line;
  });
  return results.filter((result) => result !== undefined);
}

type Stored = Listed & { readonly generation: number };

function newestOf(folder: string, objects: readonly Listed[]): Stored | undefined {
  return objects
    .flatMap((object) => {
      const generation = generationOf(object.key.slice(folder.length + 1));
      return generation === undefined ? [] : [{ ...object, generation }];
    })
    .toSorted((a, b) => b.generation - a.generation)[0];
}

function isSettledBy(line: RunResult | undefined, { generation, etag }: Stored): boolean {
  if (line === undefined || line.generation < generation) return false;
  return line.generation > generation || etag === createHash('md5').update(encodeResult(line)).digest('hex');
}

async function readOne(bucket: Bucket, key: string): Promise<RunResult | undefined> {
  const text = await bucket.read(key);
  return text === undefined ? undefined : parseResult(text, { file: bucket.addressOf(key) });
}
