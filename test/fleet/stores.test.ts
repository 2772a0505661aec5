import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { createFileStore } from '../../adapters/file-store/index.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import type { SweepEnd } from '../../workflows/messages.ts';
import { type DevServer, startDevServer } from '../dev-server.ts';
import { aModel, aSpec, aSweep, sweepInput } from '../sweep-builders.ts';
import { resultsOf } from '../test-fleet.ts';
import { people } from './fleet.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

const conversations = 6;

describe('the store of a sweep', { timeout: 120_000 }, () => {
  let practice: PracticeModel;
  let server: DevServer;
  let client: Client;
  let folder: string;
  const workers: WorkerProcess[] = [];

  before(async () => {
    practice = await startPracticeModel({ latencyMs: 5 });
    server = await startDevServer();
    client = new Client({ connection: await Connection.connect({ address: server.address }) });
    folder = await mkdtemp(join(tmpdir(), 'regatta-stores-'));
  });

  after(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(workers.map((worker) => worker.gone));
    await client?.connection.close();
    await server?.stop();
    await practice?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function startWorker(queue: string, store?: string): Promise<WorkerProcess> {
    const options = { address: server.address, queue, ...(store === undefined ? {} : { store }) };
    const worker = await startWorkerProcess(options);
    workers.push(worker);
    return worker;
  }

  async function start(sweep: string, queue: string, address: string, inline = false) {
    const store = createFileStore(address);
    const { record, shards } = aSweep(sweep, aSpec(aModel(practice.url)), people(conversations));
    await store.createSweep(record, shards);
    const handle: WorkflowHandle = await client.workflow.start('sweepWorkflow', {
      workflowId: sweep,
      taskQueue: queue,
      args: [sweepInput(record, { store: address, inline })],
    });
    return { store, record, handle };
  }

  it('is the one that its start names: one worker plays sweeps of two stores at once', async () => {
    await startWorker('both');
    const sweeps = await Promise.all([
      start('one', 'both', join(folder, 'one')),
      start('two', 'both', join(folder, 'two'), true),
    ]);
    for (const { store, record, handle } of sweeps) {
      const end: SweepEnd = await handle.result();
      assert.deepEqual(end.tally.outcomes, { passed: conversations });
      assert.equal((await resultsOf(store, record)).length, conversations);
      assert.deepEqual(await store.listSweeps(), [record.id]);
    }
  });

  it('is named before the first call where a worker may not open it, and so is the worker', async () => {
    const [mine, yours] = [join(folder, 'mine'), join(folder, 'yours')];
    const worker = await startWorker('picky', mine);
    const calls = practice.stats().calls;
    const { handle } = await start('refused', 'picky', yours);
    assert.equal(
      await failureOf(handle),
      `the sweep is in the store ${yours}, and this worker opens only ${mine} (worker ${worker.pid}@${hostname()})`,
    );
    assert.equal(practice.stats().calls, calls);
    await handle.terminate();
  });
});

/** What the attempts of a workflow's only activity say. */
async function failureOf(handle: WorkflowHandle): Promise<string> {
  for (;;) {
    const { raw } = await handle.describe();
    const message = raw.pendingActivities?.[0]?.lastFailure?.message;
    if (message) return message;
  }
}
