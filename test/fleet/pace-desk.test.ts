import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { createPaces } from '../../adapters/pace.ts';
import { leaseLifeMs, type PaceAsk, type PaceLease } from '../../domain/pace-lease.ts';
import { workflowBundle } from '../../workers/bundle.ts';
import type { FleetPace } from '../../workers/fleet-pace.ts';
import { openFleetPace } from '../../workers/pace-desk.ts';
import { type DevServer, startDevServer } from '../dev-server.ts';
import { aModel } from '../sweep-builders.ts';

const never = new AbortController().signal;
let server: DevServer;
let client: Client;
let folder: string;
const silences: string[] = [];
const opened: FleetPace[] = [];
const connections: NativeConnection[] = [];

before(async () => {
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR', () => {}) });
  folder = await mkdtemp(join(tmpdir(), 'regatta-pace-'));
  server = await startDevServer();
  client = new Client({ connection: await Connection.connect({ address: server.address }) });
});

after(async () => {
  await Promise.all(opened.map((pace) => pace.close()));
  await client?.connection.close();
  await Promise.all(connections.map((connection) => connection.close()));
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What a worker process has: its leases, and the paces that they feed. */
async function aProcess() {
  const connection = await NativeConnection.connect({ address: server.address });
  connections.push(connection);
  const leases = openFleetPace({
    ...{ connection, namespace: 'default', bundle: () => workflowBundle(folder) },
    onSilence: (_, reason) => silences.push(reason),
  });
  opened.push(leases);
  const paces = createPaces({ now: () => performance.now(), leases });
  return {
    leases,
    async call(model: ReturnType<typeof aModel>, ms = 0) {
      const pass = await paces.enter(model, { order: 1, tokens: () => 0, signal: never });
      await sleep(ms);
      pass.leave({ kind: 'served', tokens: 0 });
    },
    readings: paces.readings,
  };
}

async function paceWorkflows() {
  const found = [];
  for await (const workflow of client.workflow.list({ query: 'WorkflowType = "paceWorkflow"' }))
    found.push(workflow);
  return found;
}

/** Asks the workflow itself, so that a test can count. */
async function ask(workflowId: string, given: Partial<PaceAsk> & { number: number }): Promise<PaceLease> {
  const demand = { inFlight: 0, calls: 4, rpm: 60, tpm: 0, isShort: true, oldest: 1 };
  const whole = { rpm: 600 };
  const args: [PaceAsk] = [{ holder: 'tester', whole, demand, ...given }];
  return client.workflow.getHandle(workflowId).executeUpdate('lease', { args });
}

describe('the pace of a fleet', () => {
  it('costs nothing where an endpoint declares nothing', async () => {
    const { call } = await aProcess();
    await call(aModel('http://none.example/v1'));
    assert.deepEqual(await paceWorkflows(), []);
  });

  it('passes on at once what a worker gives back when it drains', async () => {
    const model = aModel('http://drained.example/v1', { maxInFlight: 1 });
    const [first, second] = [await aProcess(), await aProcess()];
    await first.call(model);
    const waiting = second.call(model);
    const since = performance.now();
    await first.leases.close();
    await waiting;
    assert.ok(performance.now() - since < leaseLifeMs);
  });

  it('keeps its leases when its workflow continues as new, long before the 2,000 updates that one may have', async () => {
    const { call } = await aProcess();
    const known = new Set((await paceWorkflows()).map(({ workflowId }) => workflowId));
    await call(aModel('http://busy.example/v1', { rpm: 600 }));
    const [workflow] = (await paceWorkflows()).filter(({ workflowId }) => !known.has(workflowId));
    assert.ok(workflow !== undefined);
    for (let number = 1; number <= 1_000; number += 1) {
      const { share } = await ask(workflow.workflowId, { number });
      // The process holds all of it and renews it.
      if (number === 1) assert.equal(share, undefined);
    }
    const { runId } = await client.workflow.getHandle(workflow.workflowId).describe();
    assert.notEqual(runId, workflow.runId);
    const late = await ask(workflow.workflowId, { number: 1 });
    assert.equal(late.share, undefined, 'an ask that was answered before is known');
  });

  it('stops calls when the lease has ended and Temporal is away, and not before', async () => {
    const { call } = await aProcess();
    const model = aModel('http://away.example/v1', { rpm: 6000 });
    await call(model);
    assert.deepEqual(silences, []);
    await server.kill('SIGKILL');
    const killedAt = performance.now();
    let last = killedAt;
    const calling = (async () => {
      for (;;) {
        await call(model, 20);
        last = performance.now();
      }
    })();
    await sleep(leaseLifeMs + 1_000);
    const stopped = last;
    await sleep(2_000);
    assert.equal(last, stopped);
    assert.ok(stopped - killedAt > 2_000 && stopped - killedAt <= leaseLifeMs);
    assert.notDeepEqual(silences, [], 'it was told');
    await server.restart();
    while (last === stopped) await sleep(50);
    void calling;
  });
});
