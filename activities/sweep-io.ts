import type { RunResult } from '../domain/run.ts';
import { addTally, emptyTally, type Tally } from '../domain/tally.ts';
import type { GateVerdict } from '../domain/threshold.ts';
import type { Catalog } from './catalog.ts';
import type { Dependencies } from './ports.ts';
import { sweepReport } from './report.ts';
import { summaryOf } from './run-work.ts';

export type OpenShardInput = {
  readonly sweep: string;
  readonly shard: number;
  /** Index of the first run to look at. */
  readonly from: number;
  /** Broken and cancelled runs are played again. */
  readonly retry: boolean;
  /** Only the runs with undecided checks are looked at, and only to ask those again. */
  readonly rejudge: boolean;
};

/** The runs of a shard that are to be played, and what the others came to. */
export type OpenShard = {
  readonly runs: readonly { readonly id: string; readonly index: number; readonly generation: number }[];
  readonly tally: Tally;
};

/** Which runs of a shard have no result yet (or, for a retry, one that says nothing of the target). */
export async function openShard(
  deps: Dependencies,
  catalog: Catalog,
  input: OpenShardInput,
): Promise<OpenShard> {
  const record = await catalog.shard(input.sweep, input.shard);
  const results = new Map(
    (await deps.store.readShardResults(input.sweep, record)).map((result) => [result.run, result]),
  );
  const runs: OpenShard['runs'][number][] = [];
  let tally = emptyTally;
  for (const [index, run] of record.runs.entries()) {
    if (index < input.from) continue;
    const result = results.get(run.id);
    if (isDue(result, input)) runs.push({ id: run.id, index, generation: (result?.generation ?? 0) + 1 });
    else if (result !== undefined) tally = addTally(tally, tallyOfResult(result));
  }
  return { runs, tally };
}

function isDue(result: RunResult | undefined, { retry, rejudge }: OpenShardInput): boolean {
  const unscored = result?.outcome === 'broken' || result?.outcome === 'cancelled';
  if (rejudge) return !unscored && result?.checks.some((check) => check.verdict === 'undecided') === true;
  return result === undefined || (retry && unscored);
}

function tallyOfResult(result: RunResult): Tally {
  const summary = summaryOf(result);
  return {
    outcomes: { [result.outcome]: 1 },
    faults: result.outcome === 'broken' ? { [summary.code ?? 'bug']: 1 } : {},
    usd: summary.usd,
    calls: summary.calls,
    wasted: summary.wasted,
    tokens: summary.tokens,
    tried: summary.tried,
  };
}

/** Compacts the results of a shard into one file. */
export async function closeShard(
  deps: Dependencies,
  catalog: Catalog,
  input: { readonly sweep: string; readonly shard: number },
): Promise<void> {
  const record = await catalog.shard(input.sweep, input.shard);
  const results = await deps.store.readShardResults(input.sweep, record);
  await deps.store.putShardResults(input.sweep, input.shard, results);
}

export type WriteReportInput = {
  readonly sweep: string;
  readonly probeCalls: number;
  readonly cancelled: boolean;
  readonly halt?: { readonly reason: string; readonly detail: string };
};

/** Computes the report from the results, writes it, and says what the gate is. */
export async function writeReport(
  deps: Dependencies,
  input: WriteReportInput,
): Promise<{ readonly gate: GateVerdict }> {
  const report = await sweepReport(deps.store, input);
  await deps.store.putReport(input.sweep, JSON.parse(JSON.stringify(report)));
  return { gate: report.gate };
}
