import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { createPaces } from '../../adapters/pace.ts';
import { workflowBundle } from '../../workers/bundle.ts';
import { openFleetPace } from '../../workers/pace-desk.ts';
import { startDevServer } from '../dev-server.ts';
import { aModel } from '../sweep-builders.ts';
import { historyToJson, oneEventALine, recordingsFolder, withoutPlaces } from './recorded.ts';

// node test/replay/record-pace.ts: two processes share an endpoint, and leave it; writes down what the workflow that
// shares out its pace did until it ended for want of asks, about two minutes later.

const server = await startDevServer();
const folder = await mkdtemp(join(tmpdir(), 'regatta-record-'));
const client = new Client({ connection: await Connection.connect({ address: server.address }) });
const model = aModel('http://paced.example/v1', { rpm: 600, tpm: 60_000, maxInFlight: 4 });

/** A process that calls, and looks after the workflow as long as it is open. */
async function openProcess() {
  const connection = await NativeConnection.connect({ address: server.address });
  const leases = openFleetPace({
    ...{ connection, namespace: 'default', bundle: () => workflowBundle(folder) },
    onSilence: () => {},
  });
  const paces = createPaces({ now: () => performance.now(), leases });
  const { signal } = new AbortController();
  return {
    async callFor(ms: number) {
      for (const until = performance.now() + ms; performance.now() < until; ) {
        const pass = await paces.enter(model, { order: 1, tokens: () => 100, signal });
        await sleep(100);
        pass.leave({ kind: 'served', tokens: 100 });
      }
    },
    async close() {
      await leases.close();
      await connection.close();
    },
  };
}

async function workflowId(): Promise<string> {
  for await (const found of client.workflow.list()) return found.workflowId;
  return '';
}

try {
  const [stays, leaves] = [await openProcess(), await openProcess()];
  await Promise.all([stays.callFor(15_000), leaves.callFor(8_000).then(leaves.close)]);
  const id = await workflowId();
  const handle = client.workflow.getHandle(id);
  await handle.result();
  const history = JSON.parse(withoutPlaces(JSON.stringify(historyToJson(await handle.fetchHistory()))));
  await writeFile(join(recordingsFolder, 'pace.json'), oneEventALine([{ workflowId: id, history }]));
  await stays.close();
} finally {
  await client.connection.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
