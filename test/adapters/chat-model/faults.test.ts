import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { after, test } from 'node:test';
import type { Json } from '../../../domain/json.ts';
import { aModel, benchAt, benchOf, completion, inTurn, listen, type Script, say } from './model-server.ts';

const hello = say(completion({ content: 'hi' }));

const statuses: readonly (readonly [status: number, code: string, blame: string])[] = [
  [400, 'invalid_request', 'configuration'],
  [401, 'denied', 'configuration'],
  [402, 'denied', 'configuration'],
  [403, 'denied', 'configuration'],
  [404, 'not_found', 'configuration'],
  [408, 'unavailable', 'infrastructure'],
  [422, 'invalid_request', 'configuration'],
  [429, 'rate_limited', 'infrastructure'],
  [500, 'unavailable', 'infrastructure'],
  [502, 'unavailable', 'infrastructure'],
  [503, 'unavailable', 'infrastructure'],
  [529, 'unavailable', 'infrastructure'],
];
for (const [status, code, blame] of statuses) {
  test(`status ${status} is ${code}, ${blame}`, async () => {
    const fault = await (await benchOf(say({ error: { message: 'boom' } }, status))).fault();
    assert.deepEqual([fault.code, fault.blame, fault.unsure], [code, blame, false]);
    assert.deepEqual(fault.cause, { kind: 'status', status });
  });
}

test('a fault says what was called and what came back, without secrets', async () => {
  const body = `wrong key sk-very-secret ${'x'.repeat(500)}`;
  const bench = await benchOf(say(body, 401));
  const fault = await bench.fault();
  const { host } = new URL(bench.model.baseUrl);
  const shown = `wrong key \${KEY} ${'x'.repeat(500)}`.slice(0, 200);
  assert.equal(fault.message, `chat with gpt at http://${host}/v1: HTTP 401: ${shown}`);
  assert.equal(fault.endpoint, `gpt at http://${host}/v1`);
});

test('an endpoint is named without user, password and query', async () => {
  const bench = benchAt({ ...aModel('http://me:pw@127.0.0.1:1/v1?key=abc') });
  const fault = await bench.fault();
  assert.equal(fault.endpoint, 'gpt at http://127.0.0.1:1/v1');
  assert.doesNotMatch(fault.message, /pw|abc/);
});

test('a refused connection is unavailable, and nothing was sent', async () => {
  const server = createServer();
  const port = await listen(server);
  server.close();
  const fault = await benchAt(aModel(`http://127.0.0.1:${port}/v1`)).fault();
  assert.deepEqual([fault.code, fault.unsure], ['unavailable', false]);
  assert.match(fault.message, /ECONNREFUSED/);
});

test('a name that does not exist is unavailable, and nothing was sent', async () => {
  const fault = await benchAt(aModel('http://nowhere.invalid/v1')).fault();
  assert.deepEqual([fault.code, fault.unsure], ['unavailable', false]);
});

test('a base URL that is none is an invalid request', async () => {
  assert.equal((await benchAt(aModel('nowhere')).fault()).code, 'invalid_request');
});

test('a socket that is dropped after the request is unavailable, its fate unknown', async () => {
  const fault = await (await benchOf((response) => response.destroy())).fault();
  assert.deepEqual([fault.code, fault.unsure], ['unavailable', true]);
});

test('a body that stops half way is unavailable, its fate unknown', async () => {
  const bench = await benchOf((response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"choices":', () => response.destroy());
  });
  const fault = await bench.fault();
  assert.deepEqual([fault.code, fault.unsure], ['unavailable', true]);
});

test('a server that does not speak HTTP is bad_reply', async () => {
  const server = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  assert.equal((await benchAt(aModel(`http://127.0.0.1:${port}/v1`)).fault()).code, 'bad_reply');
});

test('an answer that never comes is timed_out, its fate unknown', async () => {
  const fault = await (await benchOf(() => {})).fault({}, { timeoutMs: 50 });
  assert.deepEqual([fault.code, fault.unsure, fault.blame], ['timed_out', true, 'infrastructure']);
});

test('the time limit covers the body too', async () => {
  const bench = await benchOf((response) => response.writeHead(200).write('{"choices":'));
  assert.equal((await bench.fault({}, { timeoutMs: 50 })).code, 'timed_out');
});

test('the time limit does not cover the wait for the pace', async () => {
  const late: Script = (response, seen, index) => void setTimeout(() => hello(response, seen, index), 600);
  const bench = await benchOf(inTurn(late, hello), { maxInFlight: 1 });
  const [, second] = await Promise.all([bench.chat(), bench.chat({}, { timeoutMs: 500 })]);
  assert.equal(second.text, 'hi');
});

test("an aborted call rejects with the signal's reason", async () => {
  const controller = new AbortController();
  const bench = await benchOf(() => controller.abort(new Error('draining')));
  await assert.rejects(bench.chat({}, { signal: controller.signal }), { message: 'draining' });
});

test('a call whose signal is aborted already is not sent', async () => {
  const bench = await benchOf(hello);
  await assert.rejects(bench.chat({}, { signal: AbortSignal.abort(new Error('stop')) }), { message: 'stop' });
  assert.equal(bench.seen.length, 0);
});

test('a call is tried once', async () => {
  const bench = await benchOf(inTurn(say({}, 500), hello));
  await bench.fault();
  assert.equal(bench.seen.length, 1);
});

test('a secret that may not be used is a fault before anything is sent', async () => {
  const bench = await benchOf(hello, { apiKey: `\${OTHER}` });
  const fault = await bench.fault();
  assert.deepEqual(
    [fault.code, fault.blame, fault.message],
    ['denied', 'configuration', 'OTHER is not allowed'],
  );
  assert.equal(bench.seen.length, 0);
});

const limits: readonly (readonly [
  title: string,
  headers: Record<string, string>,
  body: Json,
  ms: number | undefined,
])[] = [
  ['seconds', { 'retry-after': '2' }, {}, 2000],
  ['words', {}, { error: { message: 'Rate limit reached. Please try again in 1.5s.' } }, 1500],
  ['nothing', {}, {}, undefined],
];
for (const [title, headers, body, ms] of limits) {
  test(`a 429 says when to come back: ${title}`, async () => {
    const fault = await (await benchOf(say(body, 429, headers))).fault();
    assert.deepEqual([fault.code, fault.retryAfterMs], ['rate_limited', ms]);
  });
}

test('a 503 hands on its Retry-After', async () => {
  const fault = await (await benchOf(say({}, 503, { 'retry-after': '3' }))).fault();
  assert.deepEqual([fault.code, fault.retryAfterMs], ['unavailable', 3000]);
});

test('a 429 for a quota that is used up is denied, but not where a time of reset is given', async () => {
  const body = { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } };
  assert.equal((await (await benchOf(say(body, 429))).fault()).code, 'denied');
  const later = await (await benchOf(say(body, 429, { 'retry-after': '20' }))).fault();
  assert.deepEqual([later.code, later.retryAfterMs], ['rate_limited', 20_000]);
});

test('a limit of the minute stays rate_limited, whatever else the message says', async () => {
  const body = { error: { message: 'Quota exceeded for requests per minute, check your plan and billing' } };
  assert.equal((await (await benchOf(say(body, 429))).fault()).code, 'rate_limited');
});

test('a limit inside of a 200 is a limit', async () => {
  const bench = await benchOf(say({ error: { code: 429, message: 'slow down' } }));
  assert.equal((await bench.fault()).code, 'rate_limited');
});

test('a model that wrote what its own server cannot use is bad_reply, not configuration', async () => {
  const body = { error: { code: 'tool_use_failed', message: 'Failed to call a function.' } };
  assert.equal((await (await benchOf(say(body, 400))).fault()).code, 'bad_reply');
});
