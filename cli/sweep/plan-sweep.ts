import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { sha256 } from '../../adapters/hash.ts';
import { createPrices } from '../../adapters/prices.ts';
import type { Price } from '../../domain/cost.ts';
import { thresholdFeasible } from '../../domain/feasibility.ts';
import { canonicalJson, storedJson } from '../../domain/json.ts';
import { planSweep, type SweepPlan } from '../../domain/plan.ts';
import { sweepIdMistake, sweepIdOf } from '../../domain/run-id.ts';
import type { PlannedRun } from '../../domain/sample.ts';
import type { SweepRecord } from '../../domain/sweep-record.ts';
import type { ModelSpec } from '../../domain/sweep-spec.ts';
import { UsageError } from '../../domain/usage-error.ts';
import type { Shell } from '../shell.ts';
import { regattaVersion } from '../version.ts';
import { projectQueue, type ReadSweep, readSweep } from './read-sweep.ts';
import type { PlayFlags, SelectionFlags } from './sweep-flags.ts';

export type PlannedSweep = ReadSweep & { readonly record: SweepRecord; readonly plan: SweepPlan };

/**
 * Reads and plans a sweep: everything that can be known before anything runs. `named`: a Temporal was named, so the
 * fleet is the project's and not this process. Throws `UsageError` with every mistake.
 */
export async function planFile(
  shell: Shell,
  file: string,
  flags: PlayFlags,
  named: boolean,
): Promise<PlannedSweep> {
  return planRead(shell, await readSweep(shell, file, flags), flags, named);
}

/** The same for a sweep that was read. */
export async function planRead(
  shell: Shell,
  sweep: ReadSweep,
  flags: PlayFlags,
  named: boolean,
): Promise<PlannedSweep> {
  const { spec, scenarios, project } = sweep;
  const id = flags.id ?? freshId(shell, spec.name);
  const wrongId = sweepIdMistake(id);
  if (wrongId !== undefined) throw new UsageError(wrongId);
  const plan = planSweep({ id, spec, scenarios, ...inlineOf(flags), priceOf: publishedPrice() });
  proveThresholds(sweep, plan);
  const record: SweepRecord = {
    schema: 1,
    id,
    hash: contentHash(sweep, plan),
    spec,
    planned: {
      scenarios: plan.scenarios,
      variants: plan.variants,
      runs: plan.runs,
      shards: plan.shards.length,
    },
    inline: plan.inline,
    estimateUsd: plan.estimate.p90RunCostUsd ?? 0,
    queue: flags.queue ?? (named ? await projectQueue(project) : `regatta.${id}`),
    created: { at: shell.now(), regatta: regattaVersion(), by: userInfo().username, project },
  };
  return { ...sweep, record, plan };
}

/** USD per million tokens, as far as a price is known. */
export function publishedPrice(): (model: ModelSpec) => Price | undefined {
  const { priceKnown, costUsd } = createPrices();
  const none = { inputTokens: 0, outputTokens: 0, estimated: false };
  return (model) =>
    priceKnown(model)
      ? {
          input: costUsd(model, { ...none, inputTokens: 1_000_000 }),
          output: costUsd(model, { ...none, outputTokens: 1_000_000 }),
        }
      : undefined;
}

function inlineOf({ bulk }: SelectionFlags): { readonly inline?: boolean } {
  return bulk === undefined ? {} : { inline: bulk };
}

function freshId(shell: Shell, name: string): string {
  const now = new Date(shell.now());
  const time = {
    year: now.getFullYear(),
    month: now.getMonth() + 1,
    day: now.getDate(),
    hour: now.getHours(),
    minute: now.getMinutes(),
    second: now.getSeconds(),
  };
  return sweepIdOf(name.replace(/[^A-Za-z0-9_-]+/g, '-'), time, randomBytes(2).toString('hex'));
}

/** What the sweep is, without who planned it and when: the same id with another hash is another sweep. */
function contentHash({ spec, scenarios }: ReadSweep, plan: SweepPlan): string {
  return sha256(canonicalJson(storedJson({ spec, scenarios, inline: plan.inline })));
}

/** Throws where a threshold could not open whatever the runs come to. */
function proveThresholds({ spec, scenarios }: ReadSweep, plan: SweepPlan): void {
  const tags = new Map(scenarios.map((scenario) => [scenario.id, scenario.tags]));
  const planned: PlannedRun[] = plan.shards.flatMap((shard) =>
    shard.runs.map((run) => ({ ...run, tags: tags.get(run.scenario) ?? [] })),
  );
  const mistakes = spec.thresholds.flatMap(
    (threshold) => thresholdFeasible(threshold, planned, spec.checks) ?? [],
  );
  if (mistakes.length > 0) throw new UsageError(mistakes);
}

/** Throws where an environment variable that the sweep uses is not set here. */
export function proveEnvironment(
  shell: Shell,
  { spec }: { readonly spec: Pick<SweepRecord['spec'], 'env'> },
): void {
  const missing = spec.env.filter((name) => !shell.env[name]);
  if (missing.length === 0) return;
  throw new UsageError(
    missing.map((name) => ({
      message: `the environment variable ${name} is not set`,
      hint: `the sweep refers to it as \${${name}}`,
    })),
  );
}
