import type { Store } from '../../activities/ports.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { readPlayedRuns } from '../../domain/played-sweep.ts';
import type { PlayedRun } from '../../domain/sample.ts';
import type { Scenario } from '../../domain/scenario.ts';
import { failureOf, outcomeOfRun, tellingRun } from '../../domain/scenario-row.ts';
import { findSweep } from '../sweep/find-sweep.ts';

export type FailedRows = {
  /** Rows as a row file holds them, in the order of the plan. */
  readonly rows: readonly JsonObject[];
  /** How many scenarios the sweep has. */
  readonly of: number;
};

/**
 * The scenarios of a sweep with at least one run of a wanted outcome; `reasons` adds `meta.regatta`.
 * @throws UsageError where the store has no such sweep.
 */
export async function failedRows(
  store: Store,
  sweep: string,
  { wanted, reasons }: { readonly wanted: readonly Outcome[]; readonly reasons: boolean },
): Promise<FailedRows> {
  const record = await findSweep(store, sweep);
  const runs = Map.groupBy(await readPlayedRuns(store, record), ({ plan }) => plan.scenario);
  const scenarios = new Map<string, Scenario>();
  for (let index = 0; index < record.planned.shards; index += 1) {
    for (const scenario of (await store.readShard(sweep, index)).scenarios)
      scenarios.set(scenario.id, scenario);
  }
  const rows = [...scenarios.values()].flatMap((scenario) => {
    const played = runs.get(scenario.id) ?? [];
    const found = played.filter((run) => wanted.includes(outcomeOfRun(run)));
    if (found.length === 0) return [];
    return [rowOf(scenario, reasons ? { sweep, ...reasonsOf(found, played) } : undefined)];
  });
  return { rows, of: scenarios.size };
}

function rowOf({ tags, meta, ...scenario }: Scenario, regatta: JsonObject | undefined): JsonObject {
  const all = regatta === undefined ? meta : { ...meta, regatta };
  return {
    ...scenario,
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(all).length === 0 ? {} : { meta: all }),
  };
}

/** `failed` counts the runs that were looked for, whatever their outcome. */
function reasonsOf(found: readonly PlayedRun[], played: readonly PlayedRun[]): JsonObject {
  const telling = tellingRun(found) ?? found[0];
  const failure = telling === undefined ? undefined : failureOf(telling);
  const cause = [failure?.check, failure?.reason].filter((part) => part !== undefined).join(': ');
  return { failed: found.length, repeats: played.length, ...(cause === '' ? {} : { cause }) };
}
