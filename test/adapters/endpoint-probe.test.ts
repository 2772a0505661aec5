import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { Fault } from '../../domain/fault.ts';
import {
  aModel,
  type Bench,
  benchAt,
  benchOf,
  completion,
  inTurn,
  listen,
  say,
} from './chat-model/model-server.ts';

const hello = say(completion({ content: 'OK' }));

function probe(bench: Bench): ReturnType<Bench['models']['probe']> {
  return bench.models.probe(bench.model, { signal: new AbortController().signal, timeoutMs: 5000, order: 0 });
}

test('an endpoint is asked for at most 16 tokens', async () => {
  const bench = await benchOf(hello);
  assert.deepEqual(await probe(bench), { calls: 1 });
  assert.equal(bench.seen[0]?.body.max_tokens, 16);
});

for (const [title, body] of [
  ['an empty body', ''],
  ['an empty text', JSON.stringify(completion({ content: '' }))],
  ['a web page', '<html></html>'],
  ['a completion without choices', '{"choices":[]}'],
] as const) {
  test(`any 200 is alive: ${title}`, async () => {
    assert.deepEqual(await probe(await benchOf(say(body))), { calls: 1 });
  });
}

for (const [status, code] of [
  [401, 'denied'],
  [404, 'not_found'],
  [400, 'invalid_request'],
] as const) {
  test(`an endpoint that answers ${status} takes no sweep`, async () => {
    const bench = await benchOf(say({ error: { message: 'no' } }, status));
    await assert.rejects(probe(bench), (error) => error instanceof Fault && error.code === code);
  });
}

test('both names of the limit of tokens are tried', async () => {
  const bench = await benchOf(inTurn(say({ error: { message: 'unknown field' } }, 400), hello));
  await probe(bench);
  assert.equal(bench.seen[1]?.body.max_completion_tokens, 16);
});

test('a model that used up its 16 tokens by thinking is alive', async () => {
  const message = 'Could not finish the message because max_tokens or model output limit was reached.';
  assert.equal((await probe(await benchOf(say({ error: { message } }, 400)))).warning, undefined);
});

test('a redirect is a warning', async () => {
  assert.match((await probe(await benchOf(say('', 308, { location: '/' })))).warning ?? '', /HTTP 308/);
});

for (const status of [429, 500]) {
  test(`an endpoint that answers ${status} is a warning`, async () => {
    const { warning, calls } = await probe(await benchOf(say({}, status)));
    assert.match(warning ?? '', new RegExp(`HTTP ${status}`));
    assert.equal(calls, 1);
  });
}

test('a server that is still loading is waited for', async () => {
  const loading = say({ error: { message: 'Loading model' } }, 503, { 'retry-after-ms': '1' });
  const bench = await benchOf(inTurn(loading, loading, hello));
  assert.deepEqual(await probe(bench), { calls: 3 });
});

test('a server that refuses connections for five minutes is a warning', async () => {
  const server = createServer();
  const port = await listen(server);
  server.close();
  const bench = benchAt(aModel(`http://127.0.0.1:${port}/v1`));
  const since = bench.clock.now();
  const { warning } = await probe(bench);
  assert.match(warning ?? '', /ECONNREFUSED/);
  const waitedMs = bench.clock.now() - since;
  assert.ok(waitedMs > 280_000 && waitedMs <= 300_000, `${waitedMs}`);
});
