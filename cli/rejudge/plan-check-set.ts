import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Store } from '../../activities/ports.ts';
import { sha256 } from '../../adapters/hash.ts';
import { type CheckSet, checkSetOf, keptChecks } from '../../domain/check-set.ts';
import { estimateSweep } from '../../domain/estimate.ts';
import { canonicalJson, storedJson } from '../../domain/json.ts';
import type { PlannedRun } from '../../domain/sample.ts';
import type { SweepRecord } from '../../domain/sweep-record.ts';
import { type ChecksFileContent, type JudgedSweep, readChecksFile } from '../../formats/checks-file.ts';
import type { Shell } from '../shell.ts';
import { publishedPrice } from '../sweep/plan-sweep.ts';
import { readSource, readWithModules } from '../sweep/read-sweep.ts';
import { regattaVersion } from '../version.ts';

/**
 * The check set that a file makes of a stored sweep; undefined where the sweep is judged by just that already.
 * Modules come from the project (default: the folder that the sweep was planned in).
 * @throws UsageError with every mistake of the file.
 */
export async function planCheckSet(
  shell: Shell,
  store: Store,
  record: SweepRecord,
  { file, project }: { readonly file: string; readonly project: string | undefined },
): Promise<CheckSet | undefined> {
  const path = resolve(shell.cwd, file);
  const source = await readSource(path, file);
  const sweep = await readJudged(store, record);
  const root = resolve(shell.cwd, project ?? record.created.project ?? shell.cwd);
  const content = await readWithModules({ folder: dirname(path), project: root }, (context) =>
    readChecksFile(source, sweep, context),
  );
  const hash = hashOf(content);
  if (hash === hashOf(record.spec)) return undefined;
  return {
    schema: 1,
    number: checkSetOf(record) + 1,
    ...content,
    hash,
    kept: keptChecks(record.spec, content),
    estimateUsd: judgingUsd(sweep, content),
    created: { at: shell.now(), regatta: regattaVersion(), by: userInfo().username, file },
  };
}

function hashOf({ checks, thresholds, models }: Omit<ChecksFileContent, 'env'>): string {
  return sha256(canonicalJson(storedJson({ checks, thresholds, models })));
}

async function readJudged(store: Store, { id, spec, planned }: SweepRecord): Promise<JudgedSweep> {
  const shards = await Promise.all(
    Array.from({ length: planned.shards }, (_, shard) => store.readShard(id, shard)),
  );
  const scenarios = [
    ...new Map(shards.flatMap((shard) => shard.scenarios.map((each) => [each.id, each]))).values(),
  ];
  const tags = new Map(scenarios.map((scenario) => [scenario.id, scenario.tags]));
  const runs: readonly PlannedRun[] = shards.flatMap((shard) =>
    shard.runs.map((run) => ({ ...run, tags: tags.get(run.scenario) ?? [] })),
  );
  return { spec, scenarios, planned: runs };
}

/** What judging a run may cost: that of a sweep in which nobody speaks. */
function judgingUsd({ spec, scenarios }: JudgedSweep, { checks, models }: ChecksFileContent): number {
  const [target] = spec.targets;
  if (target === undefined) return 0;
  const silent = { ...target, kind: 'script', replies: [] } as const;
  const turns = spec.driver.kind === 'none' ? 1 : spec.conversation.maxTurns;
  const steps = Array.from({ length: turns }, () => ({ kind: 'say', text: '' }) as const);
  const { stop: _stop, ...conversation } = spec.conversation;
  const driver = { kind: 'script', steps } as const;
  const judging = { ...spec, ...{ checks, models, conversation, driver }, targets: [silent] };
  return estimateSweep(judging, scenarios, publishedPrice()).p90RunCostUsd ?? 0;
}
