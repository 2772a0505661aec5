import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Store } from '../../activities/ports.ts';
import { Fault } from '../../domain/fault.ts';
import { deskTarget, openDesk } from './desk-server.ts';
import {
  aStage,
  echo,
  eventsOf,
  playOut,
  resultOf,
  type Script,
  standing,
  theSpec,
  wordsOf,
} from './stretch-builders.ts';

describe('a stretch that is asked to stop', () => {
  it('returns after the message in flight: journaled, and nothing else is called', async (t) => {
    const script: Script = (asked, count, signal) => {
      if (asked.by === 'target' && count === 2) worker.stop.abort();
      return echo(asked, count, signal);
    };
    const stage = await aStage(t, { spec: theSpec(), script });
    const worker = stage.worker();
    assert.deepEqual(await worker.converse(), { kind: 'stopped' });
    assert.equal((await wordsOf(stage)).length, 4);
    assert.equal(stage.models.asked.length, 4);
    assert.equal((await eventsOf(stage)).at(-1)?.kind, 'released');
  });

  it('returns from a wait for its provider at once', async (t) => {
    const script: Script = () => {
      worker.stop.abort();
      return new Fault('rate_limited', 'slow down', { blame: 'infrastructure', retryAfterMs: 5_000 });
    };
    const stage = await aStage(t, { spec: theSpec(), script });
    const worker = stage.worker();
    assert.deepEqual(await worker.converse(), { kind: 'stopped' });
    assert.equal(stage.models.asked.length, 1);
  });
});

describe('an attempt that no longer counts', () => {
  it('rejects at once, with the reason', async (t) => {
    const reason = new Error('called back');
    const script: Script = (_asked, _count, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        worker.abort.abort(reason);
      });
    const stage = await aStage(t, { spec: theSpec(), script });
    const worker = stage.worker();
    await assert.rejects(worker.converse(), reason);
    assert.equal((await eventsOf(stage)).at(-1)?.kind, 'opened');
  });
});

describe('closing', () => {
  it('a cancelled run makes one call to end its session, and none after it', async (t) => {
    const desk = await openDesk(t, ({ path }, count) => {
      if (path === '/chat' && count === 1) worker.stop.abort();
      return undefined;
    });
    const stage = await aStage(t, { spec: theSpec({ targets: [deskTarget(desk)] }) });
    const worker = stage.worker();
    assert.deepEqual(await worker.converse(), { kind: 'stopped' });
    const summary = await stage.worker().close({ cancelled: true });
    assert.equal(summary.outcome, 'cancelled');
    assert.deepEqual(desk.calls(), ['POST /sessions', 'POST /chat', 'POST /end']);
    assert.equal((await resultOf(stage)).turns, 1);
  });

  it('a second time closes nothing and leaves the result', async (t) => {
    const desk = await openDesk(t);
    const stage = await aStage(t, { spec: theSpec({ targets: [deskTarget(desk)] }) });
    await playOut(stage.worker());
    const result = await resultOf(stage);
    await stage.worker().close({ cancelled: true });
    assert.deepEqual(await resultOf(stage), result);
    assert.equal(desk.calls().filter((call) => call === 'POST /end').length, 1);
  });

  it('is tried three times; a target that refuses leaves a note in the result', async (t) => {
    const desk = await openDesk(t, ({ path }, _count, response) => {
      if (path !== '/end') return undefined;
      response.writeHead(500).end();
      return 'done';
    });
    const stage = await aStage(t, { spec: theSpec({ targets: [deskTarget(desk)] }) });
    await playOut(stage.worker());
    const { outcome, sessionNote } = await resultOf(stage);
    assert.equal(outcome, 'passed');
    assert.match(sessionNote ?? '', /was not closed: POST .*\/end answered 500/);
    assert.equal(desk.calls().filter((call) => call === 'POST /end').length, 3);
  });

  it('takes no longer than its limit where the target does not answer', async (t) => {
    const desk = await openDesk(t, ({ path }) => {
      if (path !== '/end') return undefined;
      stage.clock.advance(60_000);
      return 'done';
    });
    const stage = await aStage(t, { spec: theSpec({ targets: [deskTarget(desk)] }, { callMs: 150 }) });
    await playOut(stage.worker());
    const { outcome, sessionNote } = await resultOf(stage);
    assert.equal(outcome, 'passed');
    assert.match(sessionNote ?? '', /no answer in time/);
    assert.equal(desk.calls().filter((call) => call === 'POST /end').length, 1);
  });

  it('a run that was never opened says that it was cancelled', async (t) => {
    const stage = await aStage(t, { spec: theSpec() });
    await stage.worker().close({ cancelled: true });
    const { outcome, startedAt, turns } = await resultOf(stage);
    assert.deepEqual([outcome, startedAt, turns], ['cancelled', stage.clock.now(), 0]);
  });

  it('a retry that never opened is cancelled, whatever became of the run before', async (t) => {
    const script: Script = () => new Fault('denied', 'no key', { blame: 'configuration' });
    const stage = await aStage(t, { spec: theSpec(), script });
    await playOut(stage.worker());
    assert.equal((await resultOf(stage)).outcome, 'broken');
    await stage.worker().close({ cancelled: true, generation: 2 });
    const { outcome, generation, fault } = await resultOf(stage);
    assert.deepEqual([outcome, generation, fault], ['cancelled', 2, undefined]);
  });

  it('a run with a bug breaks it, with what the bug said', async (t) => {
    const stage = await aStage(t, { spec: theSpec() });
    await stage.worker().close({ bug: 'TypeError: x is undefined' });
    const { outcome, fault } = await resultOf(stage);
    assert.deepEqual([outcome, fault?.code, fault?.message], ['broken', 'bug', 'TypeError: x is undefined']);
  });
});

it('a bug that comes after the end of a run changes nothing', async (t) => {
  const stage = await aStage(t, { spec: theSpec() });
  await playOut(stage.worker());
  const [result, events] = [await resultOf(stage), await eventsOf(stage)];
  const summary = await stage.worker().close({ bug: 'terminated' });
  assert.equal(summary.outcome, result.outcome);
  assert.deepEqual(await resultOf(stage), result);
  assert.deepEqual(await eventsOf(stage), events);
});

it('a retry plays the run anew, and keeps what it had cost', async (t) => {
  const script: Script = (asked, count, signal) =>
    count === 2 && asked.by === 'driver'
      ? new Fault('denied', 'no key', { blame: 'configuration' })
      : echo(asked, count, signal);
  const stage = await aStage(t, { spec: theSpec(), script });
  await playOut(stage.worker());
  await playOut(stage.worker(), { generation: 2 });
  const { outcome, generation, usage, restarted, resumptions } = await resultOf(stage);
  assert.deepEqual([outcome, generation, restarted, resumptions], ['passed', 2, 0, 0]);
  assert.deepEqual([usage.driver.calls, usage.driver.wastedCalls], [4, 1]);
});

describe('a store that takes nothing more', () => {
  /** A store that fails each write from the `nth` on, as a full disk does. */
  const fullAfter = (store: Store, nth: number): Store => {
    let writes = 0;
    return {
      ...store,
      openJournal: async (run, writer) => {
        const journal = await store.openJournal(run, writer);
        return {
          ...journal,
          append: async (events) => {
            writes += 1;
            if (writes > nth)
              throw new Fault('store_unavailable', 'no space left', { blame: 'infrastructure' });
            await journal.append(events);
          },
        };
      },
    };
  };

  it('fails the stretch and loses nothing that was journaled', async (t) => {
    const whole = await aStage(t, { spec: theSpec() });
    await playOut(whole.worker());
    const stage = await aStage(t, { spec: theSpec() });
    for (const nth of [0, 1, 2, 1]) {
      await assert.rejects(stage.worker(fullAfter(stage.store, nth)).converse(), {
        code: 'store_unavailable',
      });
      assert.equal((await standing(stage)).broken, undefined);
    }
    await playOut(stage.worker());
    assert.deepEqual(await wordsOf(stage), await wordsOf(whole));
    assert.equal((await resultOf(stage)).outcome, 'passed');
  });

  it('is named by the fault where a file is in its way', async (t) => {
    const stage = await aStage(t, { spec: theSpec() });
    const runs = join(stage.store.address, 'sweep', 'runs');
    await writeFile(runs, '');
    await assert.rejects(stage.worker().converse(), (error: unknown) => {
      assert.ok(error instanceof Fault);
      assert.deepEqual([error.code, error.message.includes(runs)], ['store_unavailable', true]);
      return true;
    });
    await rm(runs);
    await playOut(stage.worker());
    assert.equal((await resultOf(stage)).outcome, 'passed');
  });
});
