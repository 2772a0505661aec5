import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readWorkerSettings, workerDefaults } from '../../workers/config.ts';
import { readMetricText } from './metric-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'regatta-worker-'));
after(() => rmSync(folder, { recursive: true }));

/** A port where nobody listens, for a Temporal that is out of reach. */
async function anUnusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function aLonelyWorker(test: TestContext, metricsPort = '0') {
  const settings = readWorkerSettings({ ...workerDefaults, queue: 'regatta.lonely', metricsPort }, folder);
  const address = `127.0.0.1:${await anUnusedPort()}`;
  const config = { ...settings, temporal: { connectionOptions: { address }, namespace: 'default' } };
  const program = fileURLToPath(new URL('worker-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(config), folder], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  test.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit').then(([exitCode]: unknown[]) => exitCode);
  return { child, exited, lines: linesOf(child) };
}

function linesOf(child: ChildProcess): AsyncIterator<string> {
  assert.ok(child.stderr);
  return createInterface({ input: child.stderr })[Symbol.asyncIterator]();
}

/** The next event of a worker's log with this message. */
async function untilLogged(lines: AsyncIterator<string>, message: string) {
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const event = JSON.parse(next.value);
    if (event.msg === message) return event;
  }
  return assert.fail(`never logged: ${message}`);
}

describe('a worker that does not reach Temporal', () => {
  it('is alive, not ready, says why, serves its metrics, keeps trying and leaves with 0 on SIGTERM', async (t) => {
    const { child, exited, lines } = await aLonelyWorker(t);
    const { port } = await untilLogged(lines, 'serving /metrics, /healthz and /readyz');
    await untilLogged(lines, 'Temporal is not reached; trying again');
    await untilLogged(lines, 'Temporal is not reached; trying again');
    const url = `http://127.0.0.1:${port}`;
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    const ready = await fetch(`${url}/readyz`);
    assert.equal(ready.status, 503);
    assert.deepEqual(await ready.json(), {
      ready: false,
      reasons: ['the worker is starting', 'Temporal is not reached, namespace default'],
    });
    const page = readMetricText(await (await fetch(`${url}/metrics`)).text());
    assert.ok(page.has('regatta_build_info'));
    child.kill('SIGTERM');
    assert.equal(await exited, 0);
  });

  it('says that its metrics port is in use and leaves with 2', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    t.after(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const { exited, lines } = await aLonelyWorker(t, String(port));
    const { value } = await lines.next();
    assert.match(String(value), new RegExp(`^127.0.0.1:${port} is in use`));
    assert.equal(await exited, 2);
  });
});
