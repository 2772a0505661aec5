import { sha256 } from '../adapters/hash.ts';
import type { CheckSpec } from '../domain/check.ts';
import { runSeed } from '../domain/random.ts';
import type { RunPlan } from '../domain/run.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { ShardRecord, SweepRecord } from '../domain/sweep-record.ts';
import type { ModelSpec, SweepSpec, TargetSpec } from '../domain/sweep-spec.ts';
import type { SweepInput } from '../workflows/messages.ts';

export function aScenario(id: string, fields: Partial<Scenario> = {}): Scenario {
  return { id, input: { order: 4471 }, tags: [], meta: {}, ...fields };
}

export function aModel(baseUrl: string, fields: Partial<ModelSpec> = {}): ModelSpec {
  return {
    name: 'practice',
    model: 'practice',
    baseUrl,
    headers: {},
    params: {},
    maxInFlight: 256,
    price: { input: 0, output: 0 },
    ...fields,
  };
}

export function aChatTarget(fields: Partial<TargetSpec> = {}): TargetSpec {
  return {
    kind: 'chat',
    model: 'practice',
    system: 'You are a support agent.',
    dialog: [],
    tools: [],
    maxToolSteps: 10,
    retries: 3,
    idempotent: false,
    onUnsureTurn: 'restart',
    onLostSession: 'restart',
    targetFaults: 'failed',
    ...fields,
  } as TargetSpec;
}

/** A required check by a judge that says pass or fail. */
export function aJudgeCheck(fields: Partial<CheckSpec> = {}): CheckSpec {
  return {
    kind: 'judge',
    model: 'practice',
    rubric: 'The desk stays polite.',
    answer: { kind: 'pass_fail' },
    votes: 1,
    name: 'polite',
    sees: 'transcript',
    at: 'end',
    rollup: 'all',
    required: true,
    not: false,
    ...fields,
  } as CheckSpec;
}

export function aSpec(model: ModelSpec, fields: Partial<SweepSpec> = {}): SweepSpec {
  return {
    schema: 1,
    name: 'test',
    models: { [model.name]: model },
    driver: {
      kind: 'model',
      model: model.name,
      prompt: 'You are customer {input.order}.',
      temperature: 0.6,
      temperatureGiven: false,
      managed: false,
    },
    targets: [aChatTarget()],
    conversation: { first: 'driver', maxTurns: 5 },
    repeats: 1,
    checks: [],
    thresholds: [],
    allowMissing: 0.01,
    concurrency: 20,
    timeouts: {
      callMs: 20_000,
      runMs: 1_800_000,
      giveUpMs: 86_400_000,
      sweepMs: 600_000,
      stretchMs: 300_000,
    },
    seed: 7,
    env: [],
    ...fields,
  };
}

/** A sweep of `scenarios` x the spec's repeats, in shards of `shardSize` runs. */
export function aSweep(
  id: string,
  spec: SweepSpec,
  scenarios: readonly Scenario[],
  shardSize = 500,
): { readonly record: SweepRecord; readonly shards: readonly ShardRecord[] } {
  const runs = scenarios.flatMap((scenario): RunPlan[] =>
    Array.from({ length: spec.repeats }, (_, index) => ({
      id: `${id}/${scenario.id}/${index + 1}`,
      scenario: scenario.id,
      repeat: index + 1,
      seed: runSeed(spec.seed, scenario.id, index + 1),
    })),
  );
  const shards: ShardRecord[] = [];
  for (let from = 0; from < runs.length; from += shardSize) {
    const slice = runs.slice(from, from + shardSize);
    const ids = new Set(slice.map((run) => run.scenario));
    shards.push({
      schema: 1,
      shard: shards.length,
      runs: slice,
      scenarios: scenarios.filter(({ id }) => ids.has(id)),
    });
  }
  const record: SweepRecord = {
    schema: 1,
    id,
    hash: sha256(JSON.stringify({ spec, shards })),
    spec,
    planned: {
      scenarios: scenarios.length,
      variants: spec.targets.length,
      runs: runs.length,
      shards: shards.length,
    },
    inline: false,
    estimateUsd: 0,
    queue: `regatta.${id}`,
    created: { at: 0, regatta: 'test' },
  };
  return { record, shards };
}

export function sweepInput(record: SweepRecord, fields: Partial<SweepInput> = {}): SweepInput {
  return {
    sweep: record.id,
    hash: record.hash,
    runs: record.planned.runs,
    shards: record.planned.shards,
    inline: record.inline,
    window: record.spec.concurrency,
    estimateUsd: record.estimateUsd,
    timeouts: record.spec.timeouts,
    retry: false,
    ...fields,
  };
}
