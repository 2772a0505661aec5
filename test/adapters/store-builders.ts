import type { CheckSet } from '../../domain/check-set.ts';
import type { JournalEvent } from '../../domain/journal.ts';
import type { RunPlan, RunResult } from '../../domain/run.ts';
import type { ShardRecord, SweepRecord } from '../../domain/sweep-record.ts';
import { noUsage } from '../../domain/usage.ts';

export const sweep = 'refunds-20260301-120000-abcd';

export function aRun(scenario = 'angry', repeat = 1): RunPlan {
  return { id: `${sweep}/${scenario}/${repeat}`, scenario, repeat, seed: 7 };
}

export function aShard(shard = 0, runs: readonly RunPlan[] = [aRun()]): ShardRecord {
  const scenarios = runs.map((run) => ({ id: run.scenario, input: 'hello', tags: [], meta: {} }));
  return { schema: 1, shard, runs, scenarios };
}

export function aSweep(changes: Partial<SweepRecord> = {}): SweepRecord {
  return {
    schema: 1,
    id: sweep,
    hash: 'hash',
    spec: {
      schema: 1,
      name: 'refunds',
      models: {},
      driver: { kind: 'none' },
      targets: [],
      conversation: { first: 'driver', maxTurns: 5 },
      repeats: 1,
      checks: [],
      thresholds: [],
      allowMissing: 0.01,
      concurrency: 50,
      timeouts: { callMs: 1, runMs: 1, giveUpMs: 1, sweepMs: 1, stretchMs: 1 },
      seed: 7,
      env: [],
    },
    planned: { scenarios: 1, variants: 1, runs: 1, shards: 1 },
    inline: false,
    estimateUsd: 0,
    queue: 'regatta.refunds',
    created: { at: 1, regatta: '0.1.0' },
    ...changes,
  };
}

export function aCheckSet(number: number, { allowed = 0.9 } = {}): CheckSet {
  const metric = { kind: 'pass_rate', subject: { kind: 'outcome' } } as const;
  return {
    schema: 1,
    ...{ number, checks: [], models: {}, kept: [], env: [], hash: `hash-${number}`, estimateUsd: 0 },
    thresholds: [{ text: `pass_rate >= ${allowed}`, metric, comparison: '>=', value: allowed }],
    created: { at: 2, regatta: '0.1.0', file: 'checks.yaml' },
  };
}

export function aResult(changes: Partial<RunResult> = {}): RunResult {
  return {
    schema: 1,
    run: aRun().id,
    scenario: 'angry',
    repeat: 1,
    generation: 1,
    tags: [],
    outcome: 'passed',
    checks: [],
    turns: 1,
    toolCalls: 0,
    replySeconds: [],
    playMs: 0,
    usage: noUsage,
    retries: {},
    resumptions: 0,
    resent: 0,
    restarted: 0,
    markedMessages: 0,
    startedAt: 1,
    endedAt: 2,
    ...changes,
  };
}

export function aMessage(text: string, turn = 1): JournalEvent {
  return { kind: 'message', at: 1, by: 'driver', turn, text };
}

/** The texts of the messages among events, in order. */
export function textsOf(events: readonly JournalEvent[]): readonly string[] {
  return events.flatMap((event) => (event.kind === 'message' ? [event.text] : []));
}
