import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { UsageError } from '../../domain/usage-error.ts';
import { type HealthServerOptions, startHealthServer } from '../../workers/health.ts';

const host = '127.0.0.1';

async function aHealthServer(test: TestContext, given: Partial<HealthServerOptions> = {}) {
  const server = await startHealthServer({
    port: 0,
    host,
    metricsText: async () => '# HELP regatta_turns_total Turns.\nregatta_turns_total 1\n',
    coreUrl: undefined,
    ready: () => ({ ready: true, reasons: [] }),
    ...given,
  });
  test.after(server.close);
  const url = `http://${host}:${server.port}`;
  return { ...server, get: (path: string, init?: RequestInit) => fetch(`${url}${path}`, init) };
}

/** A server of pages; returns its address. */
async function aServer(test: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, host);
  await once(server, 'listening');
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://${host}:${typeof address === 'object' ? address?.port : ''}/metrics`;
}

describe('/metrics', () => {
  it("joins the worker's page and the core's, in the text format 0.0.4", async (t) => {
    const coreUrl = await aServer(t, (_, response) => response.end('temporal_request_total 7\n\n'));
    const { get } = await aHealthServer(t, { coreUrl });
    const response = await get('/metrics');
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(
      await response.text(),
      '# HELP regatta_turns_total Turns.\nregatta_turns_total 1\ntemporal_request_total 7\n',
    );
  });

  it("still serves the worker's page when the core's is out of reach, and says so in a comment", async (t) => {
    const { get } = await aHealthServer(t, { coreUrl: `http://${host}:1/metrics` });
    const response = await get('/metrics');
    assert.equal(response.status, 200);
    assert.match(
      await response.text(),
      /^# HELP .*\nregatta_turns_total 1\n# Temporal's metrics are left out: .+\n$/,
    );
  });

  it("leaves out a core's page that is an error", async (t) => {
    const coreUrl = await aServer(t, (_, response) => response.writeHead(500).end('<html>'));
    const { get } = await aHealthServer(t, { coreUrl });
    assert.match(
      await (await get('/metrics')).text(),
      /turns_total 1\n# Temporal's metrics are left out: status 500\n$/,
    );
  });

  it('answers 500 with the reason when the page cannot be made', async (t) => {
    const { get } = await aHealthServer(t, { metricsText: () => Promise.reject(new Error('no page')) });
    const response = await get('/metrics');
    assert.deepEqual([response.status, await response.text()], [500, 'no page\n']);
  });
});

describe('/healthz', () => {
  it('is fine also when the worker is not ready', async (t) => {
    const { get } = await aHealthServer(t, { ready: () => ({ ready: false, reasons: ['draining'] }) });
    assert.equal((await get('/healthz')).status, 200);
  });
});

describe('/readyz', () => {
  it('answers 200 when the worker takes work', async (t) => {
    const { get } = await aHealthServer(t);
    const response = await get('/readyz');
    assert.deepEqual([response.status, await response.json()], [200, { ready: true, reasons: [] }]);
  });

  it('answers 503 with the reasons when it does not, asked anew each time', async (t) => {
    let reasons = ['Temporal is not reached'];
    const { get } = await aHealthServer(t, { ready: () => ({ ready: reasons.length === 0, reasons }) });
    const before = await get('/readyz');
    assert.deepEqual(
      [before.status, await before.json()],
      [503, { ready: false, reasons: ['Temporal is not reached'] }],
    );
    reasons = [];
    assert.equal((await get('/readyz')).status, 200);
  });
});

describe('the health server', () => {
  it('knows no other paths and no other methods', async (t) => {
    const { get } = await aHealthServer(t);
    assert.equal((await get('/')).status, 404);
    assert.equal((await get('/healthz', { method: 'POST' })).status, 405);
  });

  it('ignores a query and answers HEAD without a body', async (t) => {
    const { get } = await aHealthServer(t);
    const response = await get('/healthz?verbose', { method: 'HEAD' });
    assert.deepEqual([response.status, await response.text()], [200, '']);
  });

  it('refuses a port that is in use as a mistake of the user, with a way out', async (t) => {
    const { port } = await aHealthServer(t);
    await assert.rejects(aHealthServer(t, { port }), (error) => {
      assert.ok(error instanceof UsageError);
      assert.equal(
        error.message,
        `127.0.0.1:${port} is in use, so metrics cannot be served there (choose another --metrics-port: 0 for any, off for none)`,
      );
      return true;
    });
  });

  it('refuses an address that is not this machine', async (t) => {
    await assert.rejects(aHealthServer(t, { host: '192.0.2.1' }), UsageError);
  });

  it('closes although a client keeps its connection', async () => {
    const server = await startHealthServer({
      ...{ port: 0, host, coreUrl: undefined },
      metricsText: async () => '',
      ready: () => ({ ready: true, reasons: [] }),
    });
    await (await fetch(`http://${host}:${server.port}/healthz`)).text();
    await server.close();
    await assert.rejects(fetch(`http://${host}:${server.port}/healthz`));
  });
});
