import { buildReport, type Report, slimResult } from '../domain/report.ts';
import type { RunResult } from '../domain/run.ts';
import type { PlannedRun } from '../domain/sample.ts';
import { Fault } from '../domain/fault.ts';
import type { Store } from './ports.ts';

export type ReportFacts = {
  readonly sweep: string;
  readonly probeCalls: number;
  readonly cancelled: boolean;
  readonly halt?: { readonly reason: string; readonly detail: string };
};

/** The report on a sweep as its store stands now. */
export async function sweepReport(store: Store, facts: ReportFacts): Promise<Report> {
  const record = await store.readSweep(facts.sweep);
  if (record === undefined) {
    throw new Fault('not_found', `the store ${store.address} has no sweep ${facts.sweep}`, { blame: 'configuration' });
  }
  const planned: PlannedRun[] = [];
  const results: RunResult[] = [];
  for (let index = 0; index < record.planned.shards; index += 1) {
    const shard = await store.readShard(facts.sweep, index);
    const tags = new Map(shard.scenarios.map((scenario) => [scenario.id, scenario.tags]));
    planned.push(...shard.runs.map((run) => ({ ...run, tags: tags.get(run.scenario) ?? [] })));
    for (const result of await store.readShardResults(facts.sweep, shard)) results.push(slimResult(result));
  }
  const { name, thresholds, checks, allowMissing } = record.spec;
  return buildReport({
    ...{ sweep: facts.sweep, name, planned, results, thresholds, checks, allowMissing },
    probeCalls: facts.probeCalls,
    cancelled: facts.cancelled,
    ...(facts.halt === undefined ? {} : { halted: facts.halt }),
  });
}
