import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import type { Store } from '../../activities/ports.ts';
import { createFileStore } from '../../adapters/file-store/index.ts';
import type { Scenario } from '../../domain/scenario.ts';
import type { SweepRecord } from '../../domain/sweep-record.ts';
import type { SweepSpec } from '../../domain/sweep-spec.ts';
import type { SweepEnd, SweepInput, SweepProgress } from '../../workflows/messages.ts';
import { type DevServer, startDevServer } from '../dev-server.ts';
import { aScenario, aSweep, sweepInput } from '../sweep-builders.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

/** A Temporal server and worker processes, all real, to be attacked. */
export type Fleet = {
  server: DevServer;
  client: Client;
  readonly store: Store;
  readonly folder: string;
  readonly workers: WorkerProcess[];
  /** `flags` are added to its command line, `env` to its environment. */
  addWorker(flags?: readonly string[], env?: Readonly<Record<string, string>>): Promise<WorkerProcess>;
  plan(id: string, spec: SweepSpec, scenarios: readonly Scenario[], shardSize?: number): Promise<SweepRecord>;
  start(record: SweepRecord, how?: Partial<SweepInput>): Promise<WorkflowHandle>;
  /** Another server on an empty database: nothing of the old one is known to it. */
  replaceServer(): Promise<void>;
  stop(): Promise<void>;
};

const queue = 'regatta.attacked';

/** Starts one whose store is a new folder, or `given`, which outlives it. */
export async function startFleet(workerCount: number, given?: string): Promise<Fleet> {
  const folder = given ?? (await mkdtemp(join(tmpdir(), 'regatta-attacked-')));
  const store = createFileStore(folder);
  const server = await startDevServer();
  const fleet: Fleet = {
    server,
    client: await clientOf(server),
    store,
    folder,
    workers: [],
    async addWorker(flags = [], env = {}) {
      const { address } = fleet.server;
      const worker = await startWorkerProcess({ address, queue, store: folder, flags, env });
      fleet.workers.push(worker);
      return worker;
    },
    async plan(id, spec, scenarios, shardSize) {
      const { record, shards } = aSweep(id, spec, scenarios, shardSize);
      await store.createSweep(record, shards);
      return record;
    },
    start: (record, how) =>
      fleet.client.workflow.start('sweepWorkflow', {
        workflowId: record.id,
        taskQueue: queue,
        args: [sweepInput(record, how)],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      }),
    async replaceServer() {
      await fleet.client.connection.close();
      await fleet.server.stop();
      fleet.server = await startDevServer();
      fleet.client = await clientOf(fleet.server);
    },
    async stop() {
      for (const worker of fleet.workers) worker.kill('SIGKILL');
      await Promise.all(fleet.workers.map((worker) => worker.gone));
      await fleet.client.connection.close();
      await fleet.server.stop();
      if (given === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
  for (let index = 0; index < workerCount; index += 1) await fleet.addWorker();
  return fleet;
}

async function clientOf(server: DevServer): Promise<Client> {
  return new Client({ connection: await Connection.connect({ address: server.address }) });
}

export function people(count: number): readonly Scenario[] {
  return Array.from({ length: count }, (_, index) =>
    aScenario(`p${index}`, { input: { order: 1_000 + index } }),
  );
}

/** Looks at a live sweep until it stands so; a worker or server that is away is waited for. */
export async function until(
  handle: WorkflowHandle,
  stands: (progress: SweepProgress) => boolean,
): Promise<void> {
  for (;;) {
    const progress = await handle.query<SweepProgress>('progress').catch(() => undefined);
    if (progress !== undefined && stands(progress)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function ended({ tally }: SweepProgress): number {
  return Object.values(tally.outcomes).reduce((sum, count) => sum + count, 0);
}

/** The end of a sweep, however often the connection is lost meanwhile. */
export async function endOf(fleet: Fleet, sweep: string): Promise<SweepEnd> {
  for (let tries = 0; ; tries += 1) {
    try {
      return (await fleet.client.workflow.getHandle(sweep).result()) as SweepEnd;
    } catch (error) {
      if (tries > 60 || (error instanceof Error && error.name === 'WorkflowFailedError')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
