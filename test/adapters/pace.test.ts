import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPaces, nameEndpoint, type PaceRequest } from '../../adapters/pace.ts';
import { Fault } from '../../domain/fault.ts';
import type { ModelSpec } from '../../domain/sweep-spec.ts';

function aModel(more: Partial<ModelSpec> = {}): ModelSpec {
  return {
    name: 'gpt',
    model: 'm',
    baseUrl: 'http://localhost:1/v1',
    headers: {},
    params: {},
    maxInFlight: 1,
    ...more,
  };
}

const never = new AbortController().signal;
const request = (more: Partial<PaceRequest> = {}): PaceRequest => ({
  order: 1,
  tokens: () => 0,
  signal: never,
  ...more,
});
const served = { kind: 'served', tokens: 0 } as const;

test('the calls of older runs go first, equal ones in the order of their coming', async () => {
  const paces = createPaces({ now: Date.now });
  const first = await paces.enter(aModel(), request());
  const went: string[] = [];
  const all = (
    [
      ['young', 9],
      ['old', 2],
      ['older', 1],
      ['also old', 2],
    ] as const
  ).map(async ([name, order]) => {
    const pass = await paces.enter(aModel(), request({ order }));
    went.push(name);
    pass.leave(served);
  });
  first.leave(served);
  await Promise.all(all);
  assert.deepEqual(went, ['older', 'old', 'also old', 'young']);
});

test('no more calls are in flight than the ceiling allows', async () => {
  const paces = createPaces({ now: Date.now });
  const model = aModel({ maxInFlight: 3 });
  let inFlight = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const pass = await paces.enter(model, request());
      most = Math.max(most, ++inFlight);
      await new Promise(setImmediate);
      inFlight -= 1;
      pass.leave(served);
    }),
  );
  assert.equal(most, 3);
});

test('endpoints are told apart by base URL, name of the key and model', async () => {
  const paces = createPaces({ now: Date.now });
  const others = [
    aModel(),
    aModel({ baseUrl: 'http://localhost:2/v1' }),
    aModel({ apiKey: `\${B}` }),
    aModel({ model: 'n' }),
  ];
  await Promise.all(others.map((model) => paces.enter(model, request())));
  assert.deepEqual(
    paces.readings().map((reading) => reading.inFlight),
    [1, 1, 1, 1],
  );
});

test('entries of the same endpoint share its pace', async () => {
  const paces = createPaces({ now: Date.now });
  const pass = await paces.enter(aModel({ name: 'driver' }), request());
  const second = paces.enter(aModel({ name: 'judge' }), request());
  assert.deepEqual(paces.readings(), [
    { model: 'judge', inFlight: 1, waiting: 1, limit: 1, isLeased: false },
  ]);
  pass.leave(served);
  (await second).leave(served);
});

test('a waiting call that is aborted leaves the queue', async () => {
  const paces = createPaces({ now: Date.now });
  await paces.enter(aModel(), request());
  const controller = new AbortController();
  const waiting = paces.enter(aModel(), request({ signal: controller.signal }));
  await new Promise(setImmediate);
  controller.abort(new Error('drain'));
  await assert.rejects(waiting, { message: 'drain' });
  assert.equal(paces.readings()[0]?.waiting, 0);
});

test('a cooldown holds the next call back until it is over', async () => {
  let now = 0;
  const paces = createPaces({ now: () => now });
  (await paces.enter(aModel(), request())).leave({ kind: 'refused', retryAfterMs: 40 });
  const next = paces.enter(aModel(), request());
  await new Promise(setImmediate);
  assert.equal(paces.readings()[0]?.waiting, 1);
  now = 40;
  await next;
});

test('an endpoint that wants more than a minute for itself turns callers away, also those that wait', async () => {
  const paces = createPaces({ now: Date.now });
  const first = await paces.enter(aModel(), request());
  const waiting = paces.enter(aModel(), request());
  first.leave({ kind: 'refused', retryAfterMs: 600_000 });
  const late = paces.enter(aModel(), request());
  for (const call of [waiting, late]) {
    const fault = await call.then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(fault instanceof Fault);
    assert.equal(fault.code, 'rate_limited');
    assert.ok((fault.retryAfterMs ?? 0) > 500_000);
    assert.equal(fault.endpoint, 'gpt at http://localhost:1/v1');
  }
});

test('requests a minute are spread over the minute', async () => {
  let now = 0;
  const paces = createPaces({ now: () => now });
  const model = aModel({ maxInFlight: 100, rpm: 6000 });
  let sent = 0;
  const all = Promise.all(
    Array.from({ length: 120 }, async () => {
      const pass = await paces.enter(model, request());
      sent += 1;
      pass.leave(served);
    }),
  );
  await new Promise(setImmediate);
  assert.equal(sent, 98);
  now = 1000;
  await all;
});

test('what a model may newly do holds at once', async () => {
  const paces = createPaces({ now: Date.now });
  await paces.enter(aModel({ maxInFlight: 40 }), request());
  await paces.enter(aModel({ maxInFlight: 2 }), request());
  assert.equal(paces.readings()[0]?.limit, 2);
});

test('where sweeps declare different paces the least holds, until its sweep has not called for a minute', async () => {
  let now = 0;
  const paces = createPaces({ now: () => now });
  const limit = () => paces.readings()[0]?.limit;
  const call = async (maxInFlight: number) =>
    (await paces.enter(aModel({ maxInFlight }), request())).leave(served);
  await call(20);
  await call(2);
  await call(20);
  assert.equal(limit(), 2);
  now = 60_001;
  await call(20);
  assert.equal(limit(), 20);
});

test('each call tells how long it waited', async () => {
  let now = 0;
  const waits: number[] = [];
  const paces = createPaces({ now: () => now, onWait: ({ ms }) => waits.push(ms) });
  const first = await paces.enter(aModel(), request());
  const second = paces.enter(aModel(), request());
  now = 70;
  first.leave(served);
  await second;
  assert.deepEqual(waits, [0, 70]);
});

test('an endpoint is named without secrets', () => {
  const name = nameEndpoint({ name: 'gpt', baseUrl: 'https://me:pw@host.example/v1?key=abc#x' });
  assert.equal(name, 'gpt at https://host.example/v1');
});

test('nobody has a turn while the process may not call, whoever waits goes on once it may', async () => {
  let mayCall = false;
  let asked = 0;
  const paces = createPaces({
    now: Date.now,
    mayCall: () => {
      asked += 1;
      return mayCall;
    },
  });
  const went: string[] = [];
  const calls = ['first', 'second'].map(async (name) => {
    const pass = await paces.enter(aModel(), request());
    went.push(name);
    pass.leave(served);
  });
  while (asked < 4) await new Promise(setImmediate);
  assert.deepEqual(went, []);
  mayCall = true;
  await Promise.all(calls);
  assert.deepEqual(went, ['first', 'second']);
});
