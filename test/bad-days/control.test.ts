import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { openDesk } from './desk.ts';
import { told } from './results.ts';
import { callsEach, deskTarget, sweepText } from './sweep-text.ts';
import { aUser, type User, until } from './user.ts';

let practice: PracticeModel;
let user: User;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 50 });
  user = await aUser({ PRACTICE_URL: practice.url });
  assert.equal((await user.regatta(['server', 'start'])).code, 0);
});

beforeEach(() => practice.reset());

after(async () => {
  await user?.leave();
  await practice?.close();
});

async function started(id: string, text: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  await user.write('sweep.json', text);
  const end = await user.regatta(['start', 'sweep.json', '--id', id], { env });
  assert.deepEqual([end.code, end.stdout], [0, `${id}\n`], end.stderr);
}

describe('a detached sweep', { timeout: 180_000 }, () => {
  it('that is cancelled closes every session after its last message, and has an outcome for every run', async () => {
    // A conversation hears of the end within five seconds: these take longer.
    const desk = await openDesk({ latencyMs: 500 });
    try {
      const env = { DESK_URL: desk.url };
      const conversation = { max_turns: 15 };
      await started('cancelled', sweepText(20, { target: deskTarget, conversation, concurrency: 8 }), env);
      await until(() => desk.calls.filter(({ path }) => path === '/chat').length > 50);
      assert.equal((await user.regatta(['cancel', 'cancelled'])).code, 0);
      const end = await user.regatta(['watch', 'cancelled', '--json']);
      assert.equal(end.code, 4, end.stderr);
      const { runs } = told(end.stdout);
      assert.ok((runs.cancelled ?? 0) > 0 && (runs.unplayed ?? 0) > 0, JSON.stringify(runs));
      assert.equal((runs.passed ?? 0) + (runs.cancelled ?? 0) + (runs.unplayed ?? 0), 20);
      const opened = desk.calls.filter(({ path }) => path === '/sessions');
      assert.ok(opened.length >= 8);
      for (const { session } of opened) {
        const paths = desk.calls.filter((call) => call.session === session).map(({ path }) => path);
        assert.deepEqual(
          [paths.indexOf('/end'), paths.length - 1],
          [paths.length - 1, paths.lastIndexOf('/end')],
        );
      }
    } finally {
      await desk.close();
    }
  });

  it('that is paused stops within its conversations until it is continued, and then repeats no call', async () => {
    const slow = await startPracticeModel({ latencyMs: 700 });
    try {
      await started('paused', sweepText(12, { concurrency: 6 }), { PRACTICE_URL: slow.url });
      await until(() => slow.stats().calls > 18);
      const pause = await user.regatta(['pause', 'paused']);
      assert.equal(pause.code, 0);
      assert.match(pause.stderr, /paused: paused/);
      await until(() => slow.stats().in_flight === 0);
      const { calls, conversations } = slow.stats();
      assert.ok(
        calls < conversations.count * callsEach,
        `${calls} calls of ${conversations.count} conversations`,
      );
      const again = await user.regatta(['pause', 'paused', '--json']);
      assert.equal(JSON.parse(again.stdout).state, 'paused');
      assert.equal(slow.stats().calls, calls);
      assert.equal((await user.regatta(['continue', 'paused'])).code, 0);
      const end = await user.regatta(['watch', 'paused']);
      assert.equal(end.code, 0, end.stderr);
      const { calls: all, left } = slow.stats();
      assert.deepEqual([all, left], [12 * callsEach, 0]);
    } finally {
      await slow.close();
    }
  });

  it('has as many conversations open as retune says', async () => {
    await started('tuned', sweepText(60, { concurrency: 2 }));
    await until(() => practice.stats().calls > 20);
    assert.equal(practice.stats().max_in_flight, 2);
    assert.equal((await user.regatta(['retune', 'tuned', '--concurrency', '12'])).code, 0);
    await until(() => practice.stats().max_in_flight > 8);
    const end = await user.regatta(['watch', 'tuned']);
    assert.equal(end.code, 0, end.stderr);
    assert.equal(practice.stats().max_in_flight, 12);
  });

  it('is not live any more once it has ended, and control says so', async () => {
    await started('over', sweepText(1));
    assert.equal((await user.regatta(['watch', 'over'])).code, 0);
    for (const args of [
      ['pause', 'over'],
      ['cancel', 'over'],
      ['retune', 'over', '--concurrency', '3'],
    ]) {
      const end = await user.regatta(args);
      assert.equal(end.code, 2, `${args.join(' ')}: ${end.stderr}`);
      assert.match(end.stderr, /no sweep over is live/);
    }
  });
});

describe('control of a sweep that nobody plays', { timeout: 120_000 }, () => {
  it('says within seconds that no worker answers', async () => {
    await user.write('sweep.json', sweepText(30, { concurrency: 2 }));
    const run = user.begin(['run', 'sweep.json', '--id', 'alone']);
    await until(() => practice.stats().calls > 20);
    run.kill('SIGKILL');
    await run.ended;
    const end = await user.regatta(['pause', 'alone']);
    assert.equal(end.code, 5, end.stderr);
    assert.match(end.stderr, /no worker answers/);
    assert.match(end.stderr, /regatta resume alone/);
  });
});
