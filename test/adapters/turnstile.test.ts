import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { createTurnstile } from '../../adapters/turnstile.ts';

const { signal } = new AbortController();

test('the oldest run passes first, and runs of one age in the order of their coming', async () => {
  const turnstile = createTurnstile(1);
  const leave = await turnstile.enter(0, signal);
  const passed: string[] = [];
  const all = [
    ['young', 30],
    ['old', 10],
    ['middle', 20],
    ['old too', 10],
  ] as const;
  const waiting = all.map(async ([name, order]) => {
    const leaveAgain = await turnstile.enter(order, signal);
    passed.push(name);
    leaveAgain();
  });
  leave();
  await Promise.all(waiting);
  assert.deepEqual(passed, ['old', 'old too', 'middle', 'young']);
});

test('no more callers are inside than the limit, also when one leaves twice', async () => {
  const turnstile = createTurnstile(2);
  const leave = await turnstile.enter(1, signal);
  await turnstile.enter(1, signal);
  let inside = 2;
  const waiting = [1, 2].map(() => turnstile.enter(1, signal).then(() => (inside += 1)));
  leave();
  leave();
  await waiting[0];
  await new Promise(setImmediate);
  assert.equal(inside, 3);
});

test('a caller that gives up leaves the queue', async () => {
  const turnstile = createTurnstile(1);
  const leave = await turnstile.enter(1, signal);
  const impatient = new AbortController();
  const refused = turnstile.enter(1, impatient.signal);
  impatient.abort(new Error('cancelled'));
  await assert.rejects(refused, /cancelled/);
  const next = turnstile.enter(1, signal);
  leave();
  await next;
});

test('a caller that has waited is held back before it passes, and leaves when it is called off meanwhile', async () => {
  const held = Promise.withResolvers<void>();
  const hold = (caller: AbortSignal) =>
    Promise.race([held.promise, once(caller, 'abort').then(() => Promise.reject(caller.reason))]);
  const turnstile = createTurnstile(1, hold);
  const calledOff = new AbortController();
  const lost = turnstile.enter(1, calledOff.signal);
  const next = turnstile.enter(2, signal);
  await new Promise(setImmediate);
  calledOff.abort(new Error('called off'));
  await assert.rejects(lost, /called off/);
  held.resolve();
  await next;
});
