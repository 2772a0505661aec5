import type { RunPlan, RunResult } from '../../domain/run.ts';
import type { ShardRecord } from '../../domain/sweep-record.ts';
import { encodeResult, parseResult, parseResults } from '../../formats/result-lines.ts';
import { listNames, putNew, readText, replace } from './files.ts';
import type { SyncFolders } from './folder-sync.ts';
import { mapParallel } from './parallel.ts';
import {
  generationOf,
  resultFile,
  runFolder,
  shardResultsFile,
  sweepFolder,
  sweepFolderOf,
} from './paths.ts';

/** As many reads as keep Node's four file threads busy. */
const readsAtOnce = 16;

/** Puts a result where there is none of its run and generation yet: false where there was one. */
export async function putResult(store: string, result: RunResult, syncUpTo: SyncFolders): Promise<boolean> {
  const path = resultFile(runFolder(store, result.run), result.generation);
  return putNew(path, encodeResult(result), sweepFolderOf(store, result.run), syncUpTo);
}

/** The result of the highest generation, not lower than `atLeast`. */
export async function readResult(store: string, run: string, atLeast = 0): Promise<RunResult | undefined> {
  const folder = runFolder(store, run);
  const generations = (await listNames(folder)).map(generationOf).filter((found) => found !== undefined);
  const highest = Math.max(-1, ...generations);
  if (highest < atLeast) return undefined;
  const file = resultFile(folder, highest);
  const text = await readText(file);
  return text === undefined ? undefined : parseResult(text, { file });
}

/** Writes the compacted results of a shard anew. */
export async function putShardResults(
  store: string,
  sweep: string,
  shard: number,
  results: readonly RunResult[],
): Promise<void> {
  const text = results.map(encodeResult).join('');
  await replace(shardResultsFile(store, sweep, shard), text, sweepFolder(store, sweep));
}

/**
 * The results of a shard in the order of its runs; runs without one are left out. A result file takes the place of
 * a compacted line of its own or a lower generation: the file is what the run itself wrote.
 */
export async function readShardResults(
  store: string,
  sweep: string,
  shard: ShardRecord,
): Promise<readonly RunResult[]> {
  const file = shardResultsFile(store, sweep, shard.shard);
  const lines = parseResults((await readText(file)) ?? '', file);
  const compacted = new Map(lines.map((result) => [result.run, result]));
  const newest = async ({ id }: RunPlan): Promise<RunResult | undefined> => {
    const line = compacted.get(id);
    return (await readResult(store, id, line?.generation)) ?? line;
  };
  const results = await mapParallel(shard.runs, readsAtOnce, newest);
  return results.filter((result) => result !== undefined);
}
