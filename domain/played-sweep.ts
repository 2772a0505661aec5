import { resultNow } from './check-set.ts';
import { buildReport, type Report, type ReportInput, slimResult } from './report.ts';
import type { RunResult } from './run.ts';
import { type PlannedRun, type PlayedRun, pairRuns } from './sample.ts';
import type { ShardRecord, SweepRecord } from './sweep-record.ts';

/** A store, as far as reports need one. */
export type ResultSource = {
  readShard(sweep: string, shard: number): Promise<ShardRecord>;
  readShardResults(sweep: string, shard: ShardRecord): Promise<readonly RunResult[]>;
};

/** What is to be said of a sweep that its results do not tell. */
export type ReportFacts = {
  readonly probeCalls: number;
  readonly cancelled: boolean;
  readonly halt?: { readonly reason: string; readonly detail: string };
};

/**
 * The planned runs of a sweep in the order of the plan, with what reports need of their results: as the newest check
 * set sees them.
 */
export async function readPlayedRuns(
  source: ResultSource,
  record: Pick<SweepRecord, 'id' | 'planned' | 'spec' | 'checkSets'>,
): Promise<readonly PlayedRun[]> {
  const {
    id,
    planned: { shards },
  } = record;
  const planned: PlannedRun[] = [];
  const results: RunResult[] = [];
  for (let index = 0; index < shards; index += 1) {
    const shard = await source.readShard(id, index);
    const tags = new Map(shard.scenarios.map((scenario) => [scenario.id, scenario.tags]));
    planned.push(...shard.runs.map((run) => ({ ...run, tags: tags.get(run.scenario) ?? [] })));
    for (const result of await source.readShardResults(id, shard))
      results.push(resultNow(slimResult(result), record));
  }
  return pairRuns(planned, results);
}

/** The report on a stored sweep. */
export function reportOn(record: SweepRecord, runs: readonly PlayedRun[], facts: ReportFacts): Report {
  const { name, thresholds, checks, allowMissing } = record.spec;
  return buildReport({
    ...{ sweep: record.id, name, thresholds, checks, allowMissing },
    planned: runs.map(({ plan }) => plan),
    results: runs.flatMap(({ result }) => result ?? []),
    probeCalls: facts.probeCalls,
    cancelled: facts.cancelled,
    ...checkSetFacts(record),
    ...(facts.halt === undefined ? {} : { halted: facts.halt }),
  });
}

/** Which checks judged, where they are not those of the plan. */
function checkSetFacts({ checkSets }: SweepRecord): Pick<ReportInput, 'checkSet'> {
  const last = checkSets?.at(-1);
  if (last === undefined) return {};
  const { number, hash, created } = last;
  return { checkSet: { number, hash, file: created.file ?? null, at: created.at } };
}
