import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileStore } from '../../adapters/file-store/index.ts';
import { runCli } from '../../cli/program.ts';
import type { Environment } from '../../cli/shell.ts';
import type { CheckSpec } from '../../domain/check.ts';
import type { JournalEvent } from '../../domain/journal.ts';
import { settleRun } from '../../domain/settle.ts';
import type { SweepSpec } from '../../domain/sweep-spec.ts';
import { aModel, aScenario, aSpec, aSweep } from '../sweep-builders.ts';
import { aShell } from './test-shell.ts';

export const sweepId = 'desk-20260301-120000-abcd';

export const refunded = {
  name: 'refunded',
  kind: 'contains_any',
  texts: ['refunded'],
  caseSensitive: false,
  sees: 'replies',
  at: 'end',
  rollup: 'any',
  required: true,
  not: false,
} as const satisfies CheckSpec;

/** Two scenarios, played once each: one that gets its refund and one that does not. */
export async function aStoredSweep(folder: string, fields: Partial<SweepSpec> = {}, id = sweepId) {
  const store = createFileStore(join(folder, '.regatta', 'sweeps'));
  const spec = aSpec(aModel('http://127.0.0.1:9/v1'), { name: 'desk', checks: [refunded], ...fields });
  const { record, shards } = aSweep(id, spec, [aScenario('calm'), aScenario('angry', { tags: ['loud'] })]);
  const at = Date.UTC(2026, 2, 1, 12);
  await store.createSweep({ ...record, created: { ...record.created, at } }, shards);
  return {
    store,
    runs: shards.flatMap((shard) => shard.runs),
    /** Plays the run at an index of the plan: one turn, in as many attempts as there are writers. */
    async play(index: number, reply: string, writers: readonly string[] = ['1-1-a'], isSettled = true) {
      const [shard] = shards;
      const run = shard?.runs[index];
      const scenario = shard?.scenarios[index];
      if (run === undefined || scenario === undefined) throw new Error(`no run ${index}`);
      const parts = writers.length === 1 ? [conversation(reply, at)] : halves(conversation(reply, at));
      for (const [part, writer] of writers.entries()) {
        const journal = await store.openJournal(run.id, writer);
        await journal.append(parts[part] ?? []);
        await journal.close();
      }
      const journal = await store.readJournal(run.id);
      const result = settleRun({ run, scenario, generation: 1, journal, cancelled: false, at: at + 2_000 });
      if (isSettled) await store.putResult(result);
    },
  };
}

function halves(events: readonly JournalEvent[]): readonly (readonly JournalEvent[])[] {
  return [events.slice(0, 3), events.slice(3)];
}

function conversation(reply: string, at: number): readonly JournalEvent[] {
  const isRefunded = reply.includes('refunded');
  const call = { input_tokens: 20, output_tokens: 5, estimated: false, cost_usd: 0.001, code: 'ok' } as const;
  return [
    {
      ...{ kind: 'opened', at, generation: 1, seed: 7, managed: false, version: '0.1.0' },
      prompts: { driver: 'You are customer 4471.' },
      models: { driver: 'gpt-4o-mini' },
    },
    { kind: 'call', at, role: 'driver', turn: 1, model: 'practice', ms: 400, ...call },
    { kind: 'message', at, by: 'driver', turn: 1, text: 'I want my money back.' },
    { kind: 'call', at, role: 'target', turn: 1, model: 'practice', ms: 800, ...call },
    {
      ...{ kind: 'message', at, by: 'target', turn: 1, text: reply },
      tool_calls: [{ name: 'find_order', args: { order: 4471 }, result: { eur: 20 } }],
    },
    { kind: 'ended', at, ending: { kind: 'max_turns' } },
    {
      ...{ kind: 'check', at },
      result: {
        check: 'refunded',
        required: true,
        verdict: isRefunded ? 'pass' : 'fail',
        score: isRefunded ? 1 : 0,
        reason: isRefunded ? 'a reply contains "refunded"' : 'no reply contains "refunded"',
      },
    },
  ];
}

/** A folder of a test's own, and the command line in it. */
export async function aFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-read-'));
  return {
    folder,
    async regatta(args: readonly string[], env: Environment = {}) {
      const shell = aShell({ args, env, cwd: folder });
      const exitCode = await runCli(shell);
      return { exitCode, out: shell.out(), err: shell.err() };
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
