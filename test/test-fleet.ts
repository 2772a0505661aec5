import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import type { Meter, Store } from '../activities/ports.ts';
import { createFileStore } from '../adapters/file-store/index.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { SweepRecord } from '../domain/sweep-record.ts';
import type { SweepSpec } from '../domain/sweep-spec.ts';
import { workflowBundle } from '../workers/bundle.ts';
import { createDependencies } from '../workers/dependencies.ts';
import { createWorker } from '../workers/worker.ts';
import type { SweepEnd, SweepInput } from '../workflows/messages.ts';
import { type DevServer, startDevServer } from './dev-server.ts';
import { aSweep, sweepInput } from './sweep-builders.ts';

const quiet: Meter = { call() {}, turn() {}, runOpened() {}, runLeft() {}, runEnded() {} };

export type Started = {
  readonly record: SweepRecord;
  readonly handle: WorkflowHandleWithFirstExecutionRunId;
  end(): Promise<SweepEnd>;
};

/** A server, a store and a worker, all real and in this process (the server apart), for tests of whole sweeps. */
export type TestFleet = {
  readonly server: DevServer;
  readonly client: Client;
  readonly store: Store;
  readonly folder: string;
  start(
    id: string,
    spec: SweepSpec,
    scenarios: readonly Scenario[],
    how?: Partial<SweepInput> & { shardSize?: number },
  ): Promise<Started>;
  /** Starts the workflow of a sweep that is in the store already. */
  startAgain(record: SweepRecord, how?: Partial<SweepInput>): Promise<Started>;
  /** Drains the worker, as SIGTERM does. */
  drain(): Promise<void>;
  startWorker(): Promise<void>;
  stop(): Promise<void>;
};

const queue = 'regatta.test';

export async function startTestFleet(project = process.cwd()): Promise<TestFleet> {
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') });
  const server = await startDevServer();
  const folder = await mkdtemp(join(tmpdir(), 'regatta-store-'));
  const store = createFileStore(folder);
  const bundle = await workflowBundle(join(tmpdir(), 'regatta-test-bundles'));
  const client = new Client({ connection: await Connection.connect({ address: server.address }) });
  let running: { worker: Worker; done: Promise<void>; drained: AbortController } | undefined;

  async function startWorker(): Promise<void> {
    const connection = await NativeConnection.connect({ address: server.address });
    const drained = new AbortController();
    const { deps, close } = createDependencies({
      project,
      openStore: () => createFileStore(folder),
      env: process.env,
      allowEnv: ['REGATTA_SECRET_*'],
      allowHost: [],
      meter: quiet,
      onPaceWait: () => {},
      contact: { hold: async () => {}, mayCall: () => true },
      drain: drained.signal,
      log: () => {},
      version: 'test',
    });
    const worker = await createWorker({
      ...{ connection, namespace: 'default', queue, role: 'all', slots: 256, graceMs: 5_000, bundle, deps },
    });
    const done = worker.run().finally(async () => {
      await close();
      await connection.close();
    });
    running = { worker, done, drained };
  }

  async function drain(): Promise<void> {
    running?.drained.abort();
    if (running?.worker.getState() === 'RUNNING') running.worker.shutdown();
    await running?.done;
    running = undefined;
  }

  async function startAgain(record: SweepRecord, how: Partial<SweepInput> = {}): Promise<Started> {
    const handle = await client.workflow.start('sweepWorkflow', {
      workflowId: record.id,
      taskQueue: queue,
      args: [sweepInput(record, how)],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    return { record, handle, end: () => handle.result() as Promise<SweepEnd> };
  }

  await startWorker();
  return {
    ...{ server, client, store, folder, drain, startWorker, startAgain },
    async start(id, spec, scenarios, { shardSize, ...how } = {}) {
      const { record, shards } = aSweep(id, spec, scenarios, shardSize);
      await store.createSweep(record, shards);
      return startAgain(record, how);
    },
    async stop() {
      await drain();
      await client.connection.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The results of every run of a sweep, by run. */
export async function resultsOf(store: Store, record: SweepRecord) {
  const results = [];
  for (let shard = 0; shard < record.planned.shards; shard += 1) {
    results.push(...(await store.readShardResults(record.id, await store.readShard(record.id, shard))));
  }
  return results;
}

/** The words of a run's latest conversation: what both sides said, in order. */
export async function wordsOf(store: Store, run: string): Promise<readonly string[]> {
  const { events } = await store.readJournal(run);
  const opened = events.findLastIndex((event) => event.kind === 'opened');
  return events
    .slice(opened)
    .flatMap((event) => (event.kind === 'message' ? [`${event.by}: ${event.text}`] : []));
}
