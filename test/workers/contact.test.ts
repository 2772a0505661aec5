import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as allRunnable } from 'node:timers/promises';
import { watchContact } from '../../workers/contact.ts';

type Sleeper = { readonly at: number; readonly wake: () => void };

/** A clock that stands still until it is told: `advance` runs the timers on the way, `jump` none, as a freeze does. */
function aClock() {
  let time = 1_000_000;
  let setBackMs = 0;
  const sleepers = new Set<Sleeper>();

  function nextBefore(end: number): Sleeper | undefined {
    const due = [...sleepers].filter((sleeper) => sleeper.at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }

  return {
    now: () => time - setBackMs,
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { at: time + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      });
    },
    jump(ms: number) {
      time += ms;
    },
    /** Timers do not heed it. */
    setBack(ms: number) {
      setBackMs += ms;
    },
    async advance(ms: number) {
      const end = time + ms;
      await allRunnable();
      for (let next = nextBefore(end); next !== undefined; next = nextBefore(end)) {
        time = Math.max(time, next.at);
        sleepers.delete(next);
        next.wake();
        await allRunnable();
      }
      time = end;
    },
  };
}

/** A contact, and a server that answers unless it is told not to. */
function aContact(test: { after(work: () => void): void }) {
  const clock = aClock();
  const server = { answer: (): Promise<void> => Promise.resolve() };
  const contact = watchContact(() => server.answer(), clock.now, clock.sleep);
  test.after(contact.close);
  return { clock, server, contact };
}

/** Whether a held call has been let go. */
function watched(held: Promise<void>) {
  const state = { isOver: false };
  held.then(
    () => {
      state.isOver = true;
    },
    () => {},
  );
  return state;
}

const never = new AbortController().signal;
const away = () => Promise.reject(new Error('away'));

describe('the contact with Temporal', () => {
  it('holds nothing back while Temporal answers', async (t) => {
    const { clock, contact } = aContact(t);
    await clock.advance(600_000);
    await contact.hold(never);
    assert.equal(contact.reachable(), true);
  });

  it('holds nothing back in an absence that is too short for a worker to be taken for lost', async (t) => {
    const { clock, server, contact } = aContact(t);
    await clock.advance(20_000);
    server.answer = away;
    await clock.advance(9_000);
    await contact.hold(never);
  });

  it('holds calls back from the 15th second without an answer', async (t) => {
    const { clock, server, contact } = aContact(t);
    await clock.advance(20_000);
    server.answer = away;
    await clock.advance(16_000);
    const call = watched(contact.hold(never));
    await clock.advance(3_600_000);
    assert.deepEqual({ ...call, reachable: contact.reachable() }, { isOver: false, reachable: false });
  });

  it('lets calls go a heartbeat after contact is back, and not before', async (t) => {
    const { clock, server, contact } = aContact(t);
    server.answer = away;
    await clock.advance(60_000);
    const call = watched(contact.hold(never));
    server.answer = () => Promise.resolve();
    await clock.advance(5_000);
    assert.equal(contact.reachable(), true);
    await clock.advance(5_400);
    assert.equal(call.isOver, false);
    await clock.advance(1_100);
    assert.equal(call.isOver, true);
  });

  it('says so to whoever was held before the absence and has had to wait for something else since', async (t) => {
    const { clock, server, contact } = aContact(t);
    await contact.hold(never);
    assert.equal(contact.mayCall(), true);
    server.answer = away;
    await clock.advance(60_000);
    assert.equal(contact.mayCall(), false);
    server.answer = () => Promise.resolve();
    await clock.advance(5_000);
    assert.equal(contact.mayCall(), false);
    await clock.advance(6_500);
    assert.equal(contact.mayCall(), true);
  });

  it('also holds the call that begins once contact is back, until the heartbeat has passed', async (t) => {
    const { clock, server, contact } = aContact(t);
    server.answer = away;
    await clock.advance(60_000);
    server.answer = () => Promise.resolve();
    await clock.advance(5_000);
    const call = watched(contact.hold(never));
    await clock.advance(1_000);
    assert.equal(call.isOver, false);
  });

  it('holds the first call after a freeze, before any timer has run', async (t) => {
    const { clock, contact } = aContact(t);
    await clock.advance(20_000);
    clock.jump(30_000);
    const call = watched(contact.hold(never));
    await allRunnable();
    assert.equal(call.isOver, false);
    await clock.advance(5_900);
    assert.equal(call.isOver, false);
    await clock.advance(1_000);
    assert.equal(call.isOver, true);
  });

  it('does not take an answer from before a freeze for contact after it', async (t) => {
    const { clock, server, contact } = aContact(t);
    await clock.advance(4_000);
    const asked = Promise.withResolvers<void>();
    server.answer = () => asked.promise;
    await clock.advance(1_500);
    server.answer = away;
    clock.jump(30_000);
    asked.resolve();
    await allRunnable();
    assert.equal(contact.reachable(), false);
    const call = watched(contact.hold(never));
    await clock.advance(60_000);
    assert.equal(call.isOver, false);
  });

  it('holds after a clock that was set back, and goes on by itself', async (t) => {
    const { clock, contact } = aContact(t);
    await clock.advance(20_000);
    clock.setBack(3_600_000);
    const call = watched(contact.hold(never));
    await allRunnable();
    assert.equal(call.isOver, false);
    await clock.advance(12_000);
    assert.equal(call.isOver, true);
  });

  it('gives up a ping that is never answered and asks again', async (t) => {
    const { clock, server, contact } = aContact(t);
    await clock.advance(4_000);
    server.answer = () => new Promise(() => {});
    await clock.advance(40_000);
    assert.equal(contact.reachable(), false);
    server.answer = () => Promise.resolve();
    await clock.advance(13_000);
    assert.equal(contact.reachable(), true);
  });

  it('rejects with the reason when the attempt is called back while it holds', async (t) => {
    const { clock, server, contact } = aContact(t);
    server.answer = away;
    await clock.advance(60_000);
    const attempt = new AbortController();
    const held = contact.hold(attempt.signal);
    const reason = new Error('another worker has this run');
    attempt.abort(reason);
    await assert.rejects(held, reason);
  });

  it('rejects at once for an attempt that was called back before', async (t) => {
    const { clock, contact } = aContact(t);
    clock.jump(30_000);
    const reason = new Error('another worker has this run');
    await assert.rejects(contact.hold(AbortSignal.abort(reason)), reason);
  });
});
