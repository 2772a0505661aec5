import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileStore } from '../adapters/file-store/index.ts';
import type { RunPlan, RunResult } from '../domain/run.ts';
import { aResult } from '../test/adapters/store-builders.ts';
import { people } from '../test/fleet/fleet.ts';
import { aJudgeCheck, aModel, aSpec, aSweep } from '../test/sweep-builders.ts';
import { type Peak, peakOfCommand } from './command-peak.ts';
import { removeFolder } from './sweep-files.ts';
import { formatReaches, formatTable } from './table.ts';

const sweep = 'simulated';
const shardSize = 1_000;
const turns = 8;
const checks = ['polite', 'correct', 'brief'].map((name) => aJudgeCheck({ name }));
const limitMiB = 500;
const limitedRuns = 100_000;

/** The report of simulated runs of eight turns and three judged checks: nothing is played, results alone are written. */
export async function measureScaleReport({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const peaks: (Peak & { readonly runs: number })[] = [];
  for (const runs of isQuick ? [3_000] : [limitedRuns, 1_000_000])
    peaks.push({ runs, ...(await reportOn(runs)) });
  const rows = peaks.map(({ runs, wallSeconds, peakRssMiB }) => [
    ...[runs.toString(), wallSeconds.toFixed(1), peakRssMiB.toFixed(0)],
    ((peakRssMiB * 1024) / runs).toFixed(1),
  ]);
  const table = formatTable(['runs', 'report s', 'peak RSS MiB', 'KiB a run'], rows);
  const limited = peaks[0]?.peakRssMiB ?? 0;
  const reach = {
    what: `peak memory of the report of ${peaks[0]?.runs} runs`,
    limit: `< ${limitMiB} MiB`,
    value: `${limited.toFixed(0)} MiB`,
    reached: limited < limitMiB,
  };
  return `${table}\n${formatReaches([reach])}`;
}

async function reportOn(runs: number): Promise<Peak> {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-bench-'));
  try {
    await writeResults(folder, runs);
    // The command's own heap is for a tenth of a million; a larger one is left untidy for longer.
    const heap = runs > limitedRuns ? { REGATTA_HEAP_MB: '4096' } : {};
    return await peakOfCommand(folder, ['report', sweep, '--store', folder], heap);
  } finally {
    await removeFolder(folder);
  }
}

async function writeResults(folder: string, runs: number): Promise<void> {
  const store = createFileStore(folder);
  const spec = aSpec(aModel('http://127.0.0.1:1/v1'), { checks });
  const { record, shards } = aSweep(sweep, spec, people(runs), shardSize);
  await store.createSweep(record, shards);
  for (const shard of shards) await store.putShardResults(sweep, shard.shard, shard.runs.map(resultOf));
}

function resultOf({ id, scenario }: RunPlan, index: number): RunResult {
  const isPassed = index % 7 !== 0;
  return aResult({
    ...{ run: id, scenario, turns, outcome: isPassed ? 'passed' : 'failed' },
    replySeconds: Array.from({ length: turns }, (_, turn) => 0.5 + ((index * 7 + turn) % 100) / 37),
    checks: checks.map(({ name, required }) => ({
      ...{ check: name, required, verdict: isPassed ? 'pass' : 'fail' },
      reason: `The agent told customer ${index} when the order would come, as the policy asks. `.repeat(3),
    })),
  });
}
