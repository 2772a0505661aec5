import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import type { Store } from '../../activities/ports.ts';
import { createStore } from '../../adapters/store.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import type { SweepEnd } from '../../workflows/messages.ts';
import { type S3Server, startS3Server } from '../adapters/s3-server.ts';
import { type DevServer, startDevServer } from '../dev-server.ts';
import { aChatTarget, aModel, aSpec, aSweep, sweepInput } from '../sweep-builders.ts';
import { resultsOf, wordsOf } from '../test-fleet.ts';
import { ended, people, until } from './fleet.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

const conversations = 30;
const callsEach = 10;
const queue = 'regatta.bucket';
const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

const s3 = await startS3Server();

describe('a fleet whose store is a bucket', { skip: 'lacking' in s3 && s3.lacking }, () => {
  const address = `s3://${'bucket' in s3 ? s3.bucket : ''}/team/sweeps`;
  let practice: PracticeModel;
  let server: DevServer;
  let client: Client;
  let store: Store;
  const workers: WorkerProcess[] = [];

  before(async () => {
    practice = await startPracticeModel({ latencyMs: 100 });
    server = await startDevServer();
    client = new Client({ connection: await Connection.connect({ address: server.address }) });
    store = createStore(address);
    for (let count = 0; count < 2; count += 1) {
      workers.push(await startWorkerProcess({ address: server.address, queue }));
    }
  });

  after(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(workers.map((worker) => worker.gone));
    await client?.connection.close();
    await server?.stop();
    await practice?.close();
    await (s3 as S3Server).stop();
  });

  async function start(sweep: string): Promise<WorkflowHandle> {
    const spec = aSpec(aModel(practice.url), {
      concurrency: 10,
      driver: {
        ...{ kind: 'model', model: 'practice', prompt: 'You are customer {input.order}.' },
        ...{ temperature: 0.6, temperatureGiven: false, managed: false },
      },
      targets: [aChatTarget({ system: 'You are the desk for order {input.order}.' })],
    });
    const { record, shards } = aSweep(sweep, spec, people(conversations));
    await store.createSweep(record, shards);
    const args = [sweepInput(record, { store: address })];
    return client.workflow.start('sweepWorkflow', { workflowId: sweep, taskQueue: queue, args });
  }

  async function wordsOfAll(sweep: string): Promise<readonly (readonly string[])[]> {
    return Promise.all(people(conversations).map(({ id }) => wordsOf(store, `${sweep}/${id}/1`)));
  }

  it('ends every run once when a worker is killed, with the words of an undisturbed sweep', async () => {
    await (await start('calm')).result();
    practice.reset();
    const handle = await start('killed');
    await until(handle, (progress) => ended(progress) >= 8);
    const inFlight = practice.stats().in_flight;
    workers[0]?.kill('SIGKILL');
    const end: SweepEnd = await handle.result();
    assert.deepEqual(end.tally.outcomes, { passed: conversations });
    const record = await store.readSweep('killed');
    assert.ok(record !== undefined);
    const results = await resultsOf(store, record);
    assert.equal(new Set(results.map((result) => result.run)).size, conversations);
    assert.ok(results.some(({ resumptions }) => resumptions > 0));
    assert.deepEqual(await wordsOfAll('killed'), await wordsOfAll('calm'));
    assert.ok(practice.stats().calls - conversations * callsEach <= inFlight);
  });

  it('waits while the bucket is out of reach, and goes on when it is back', async () => {
    const handle = await start('away');
    await until(handle, (progress) => ended(progress) >= 8);
    (s3 as S3Server).freeze();
    await new Promise((resolve) => setTimeout(resolve, 20_000));
    (s3 as S3Server).thaw();
    const end: SweepEnd = await handle.result();
    assert.deepEqual(end.tally.outcomes, { passed: conversations });
    assert.deepEqual(await wordsOfAll('away'), await wordsOfAll('calm'));
  });

  it('is read by the commands like any other', async () => {
    const run = async (...args: readonly string[]) =>
      JSON.parse((await promisify(execFile)(process.execPath, [main, ...args, '--store', address])).stdout);
    const { sweeps } = await run('list', '--json', '--address', server.address);
    assert.deepEqual(
      sweeps.map(({ id, ended: count }: { id: string; ended: number }) => [id, count]).sort(),
      ['away', 'calm', 'killed'].map((id) => [id, conversations]),
    );
    assert.equal((await run('report', 'killed', '--json', '-')).runs.passed, conversations);
    const shown = await run('show', 'killed/p7/1', '--json');
    assert.deepEqual(
      shown.messages.map(({ by, text }: { by: string; text: string }) => `${by}: ${text}`),
      await wordsOf(store, 'killed/p7/1'),
    );
  });
});
