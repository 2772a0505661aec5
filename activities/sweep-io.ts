import { storedJson } from '../domain/json.ts';
import { isScored } from '../domain/outcome.ts';
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
  /** Nothing is played: only runs that have ended are looked at, to ask their undecided checks again. */
  readonly rejudge: boolean;
  /** The number of the check set that judges; absent: as planned. */
  readonly checkSet?: number;
};

/** A run that is to be played, or judged again. */
export type DueRun = {
  readonly id: string;
  readonly index: number;
  readonly generation: number;
  /** Its conversation stands: it is only judged. */
  readonly rejudge?: true;
  /** What its earlier generations cost; it is in the tally already. */
  readonly spentUsd?: number;
};

/** The runs of a shard that are to be played, what the others came to, and what all of them have cost. */
export type OpenShard = {
  readonly runs: readonly DueRun[];
  readonly tally: Tally;
};

/**
 * Which runs of a shard have no result yet (or, for a retry, one that says nothing of the target), and which were
 * judged by an earlier check set.
 */
export async function openShard(
  deps: Dependencies,
  catalog: Catalog,
  input: OpenShardInput,
): Promise<OpenShard> {
  const record = await catalog.shard(input.sweep, input.shard);
  const results = new Map(
    (await deps.store.readShardResults(input.sweep, record)).map((result) => [result.run, result]),
  );
  const runs: DueRun[] = [];
  let tally = emptyTally;
  for (const [index, run] of record.runs.entries()) {
    if (index < input.from) continue;
    const result = results.get(run.id);
    if (isDue(result, input)) {
      const due = dueRun({ id: run.id, index }, result);
      runs.push(due);
      tally = addTally(tally, { ...emptyTally, usd: due.spentUsd ?? 0 });
    } else if (result !== undefined) tally = addTally(tally, tallyOfResult(result));
  }
  return { runs, tally };
}

function dueRun(run: { readonly id: string; readonly index: number }, result: RunResult | undefined): DueRun {
  const spentUsd = result === undefined ? 0 : summaryOf(result).usd;
  return {
    ...run,
    generation: (result?.generation ?? 0) + 1,
    ...(result === undefined || !isScored(result.outcome) ? {} : { rejudge: true }),
    ...(spentUsd === 0 ? {} : { spentUsd }),
  };
}

function isDue(result: RunResult | undefined, { retry, rejudge, checkSet = 0 }: OpenShardInput): boolean {
  if (result === undefined) return !rejudge;
  if (!isScored(result.outcome)) return retry && result.outcome !== 'skipped';
  if ((result.checkSet ?? 0) < checkSet) return true;
  return rejudge && result.checks.some((check) => check.verdict === 'undecided');
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
  await deps.store.putReport(input.sweep, storedJson(report));
  return { gate: report.gate };
}
