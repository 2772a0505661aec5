import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ActivityCancellationDetails, ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { attended, failureOf } from '../../activities/attended.ts';
import type { Signals } from '../../activities/stretch.ts';
import { Fault } from '../../domain/fault.ts';

const neverDrains = new AbortController().signal;

/** An activity that lasts until its test says so, and how it is told to stop. */
function anActivity(drain = neverDrains) {
  const environment = new MockActivityEnvironment();
  const begun = Promise.withResolvers<Signals>();
  const work = Promise.withResolvers<string>();
  const done = environment.run(() =>
    attended({ drain, identity: '7@pod' }, (signals) => {
      begun.resolve(signals);
      return work.promise;
    }),
  );
  done.catch(() => {});
  return { environment, begun: begun.promise, work, done };
}

describe('an activity', () => {
  it('beats from the fifth second on, and no longer than it lasts', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { environment, begun, work, done } = anActivity();
    let beats = 0;
    environment.on('heartbeat', () => {
      beats += 1;
    });
    await begun;
    t.mock.timers.tick(4_999);
    assert.equal(beats, 0);
    t.mock.timers.tick(1);
    assert.equal(beats, 1);
    t.mock.timers.tick(10_000);
    assert.equal(beats, 3);
    work.resolve('done');
    await done;
    t.mock.timers.tick(60_000);
    assert.equal(beats, 3);
  });

  for (const details of [{ cancelRequested: true }, { paused: true }]) {
    it(`that is asked to stop (${Object.keys(details)}) may end its message and return`, async () => {
      const { environment, begun, work, done } = anActivity();
      const signals = await begun;
      environment.cancel('CANCELLED', new ActivityCancellationDetails(details));
      assert.deepEqual([signals.stop.aborted, signals.abort.aborted], [true, false]);
      work.resolve('returned in order');
      assert.equal(await done, 'returned in order');
    });
  }

  const lost = [{ notFound: true }, { timedOut: true }, { workerShutdown: true }, { reset: true }];
  for (const details of [...lost, { cancelRequested: true, notFound: true }]) {
    it(`whose attempt no longer counts (${Object.keys(details)}) is aborted`, async () => {
      const { environment, begun, work, done } = anActivity();
      const signals = await begun;
      environment.cancel('NOT_FOUND', new ActivityCancellationDetails(details));
      assert.deepEqual([signals.stop.aborted, signals.abort.aborted], [true, true]);
      work.reject(new Error('whatever the aborted call said'));
      await assert.rejects(done, CancelledFailure);
    });
  }

  it('is asked to stop when its worker drains', async () => {
    const drain = new AbortController();
    const { begun, work, done } = anActivity(drain.signal);
    const signals = await begun;
    drain.abort();
    assert.deepEqual([signals.stop.aborted, signals.abort.aborted], [true, false]);
    work.resolve('returned');
    assert.equal(await done, 'returned');
  });

  it('is asked to stop at once where its worker drains already', async () => {
    const { begun, work, done } = anActivity(AbortSignal.abort());
    assert.equal((await begun).stop.aborted, true);
    work.resolve('returned');
    await done;
  });
});

describe('what an activity throws', () => {
  it('is tried again where it is a fault, under its code, and names the worker', () => {
    const failure = failureOf(
      new Fault('store_unavailable', 'disk full', { blame: 'infrastructure' }),
      '7@pod',
    );
    assert.ok(failure instanceof ApplicationFailure);
    assert.deepEqual(
      [failure.type, failure.message, failure.nonRetryable],
      ['store_unavailable', 'disk full (worker 7@pod)', false],
    );
  });

  it('is not tried again where it is a bug, and is cut for the history', () => {
    const failure = failureOf(new TypeError('x'.repeat(10_000)), '7@pod');
    assert.ok(failure instanceof ApplicationFailure);
    assert.deepEqual([failure.type, failure.nonRetryable], ['bug', true]);
    assert.ok(failure.message.startsWith('TypeError: x') && failure.message.length <= 800);
  });

  it('stays as it is where it is a cancellation', () => {
    const cancelled = new CancelledFailure('CANCELLED');
    assert.equal(failureOf(cancelled, '7@pod'), cancelled);
  });
});
