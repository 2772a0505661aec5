import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json } from '../../domain/json.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { type Desk, type DeskOptions, type Misdeed, openDesk } from './desk.ts';
import { causeOf, readResults, type Told, told, transcripts } from './results.ts';
import { deskTarget, sweepText, turns } from './sweep-text.ts';
import { aUser, type User } from './user.ts';

let practice: PracticeModel;
let user: User;
let swept = 0;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 20 });
  user = await aUser({ PRACTICE_URL: practice.url });
  assert.equal((await user.regatta(['server', 'start'])).code, 0);
});

after(async () => {
  await user?.leave();
  await practice?.close();
});

type Day = {
  readonly sweep: string;
  readonly code: number | string;
  readonly report: Told;
  readonly desk: Desk;
};

async function aDay(
  misdeed: NonNullable<DeskOptions['misdeed']>,
  target: { readonly [name: string]: Json } = {},
  count = 3,
): Promise<Day> {
  const desk = await openDesk({ latencyMs: 10, misdeed });
  try {
    swept += 1;
    const sweep = `day-${swept}`;
    const fields = { target: { ...deskTarget, ...target }, timeouts: { call: '1s' } };
    await user.write('sweep.json', sweepText(count, fields));
    const env = { DESK_URL: desk.url };
    const end = await user.regatta(['run', 'sweep.json', '--id', sweep, '--json'], { env });
    return { sweep, code: end.code, report: told(end.stdout), desk };
  } finally {
    await desk.close();
  }
}

/** Every session that was opened was ended, once, and heard nothing after that. */
function assertClosed({ calls }: Desk): void {
  for (const { session } of calls.filter(({ path }) => path === '/sessions')) {
    const paths = calls.filter((call) => call.session === session).map(({ path }) => path);
    assert.equal(paths.at(-1), '/end', `${session}: ${paths.join(' ')}`);
    assert.equal(paths.filter((path) => path === '/end').length, 1, `${session}: ${paths.join(' ')}`);
  }
}

describe('an HTTP target that always misbehaves at its second turn', { timeout: 180_000 }, () => {
  for (const [deed, code] of [
    ['hang', 'timed_out'],
    ['drop', 'unavailable'],
    ['half', 'unavailable'],
    ['not_json', 'bad_reply'],
    ['empty', 'bad_reply'],
    ['error500', 'unavailable'],
    ['huge', 'too_large'],
  ] as readonly (readonly [Misdeed, string])[]) {
    it(`(${deed}) fails the run with ${code}, blame target, and is told of the end of every session`, async () => {
      const { sweep, code: exit, report, desk } = await aDay(({ turn }) => (turn === 2 ? deed : undefined));
      assert.equal(exit, 3);
      assert.equal(report.runs.failed, 3);
      for (const result of await readResults(user, sweep)) {
        assert.equal(result.ending?.kind, 'target_error');
        assert.deepEqual(causeOf(result), [code, 'target']);
      }
      assertClosed(desk);
    });
  }

  it('(401) breaks the run: configuration is nobody else’s fault', async () => {
    const { sweep, code: exit, report } = await aDay(({ turn }) => (turn === 2 ? 'error401' : undefined));
    assert.equal(exit, 4);
    assert.equal(report.runs.broken, 3);
    for (const result of await readResults(user, sweep)) {
      assert.deepEqual(causeOf(result), ['denied', 'configuration']);
    }
  });

  it('breaks the run instead where the file says `target_faults: broken`', async () => {
    const { report } = await aDay(({ turn }) => (turn === 2 ? 'not_json' : undefined), {
      target_faults: 'broken',
    });
    assert.equal(report.runs.broken, 3);
  });
});

describe('an HTTP target that misbehaves once', { timeout: 180_000 }, () => {
  const once = (deed: Misdeed): NonNullable<DeskOptions['misdeed']> => {
    const bad = new Set<string>();
    return ({ session, turn }) => {
      if (turn !== 2 || bad.size >= 3 || bad.has(session)) return undefined;
      bad.add(session);
      return deed;
    };
  };

  for (const deed of ['drop', 'hang', 'half'] as const) {
    it(`(${deed}) gets the conversation from the start in a new session, as it may have heard the message`, async () => {
      const { sweep, code: exit, desk } = await aDay(once(deed));
      assert.equal(exit, 0);
      assert.equal(desk.calls.filter(({ path }) => path === '/sessions').length, 6);
      assertClosed(desk);
      for (const words of (await transcripts(user, sweep)).values()) assert.equal(words.length, 2 * turns);
      assert.ok((await readResults(user, sweep)).every((result) => result.restarted));
    });
  }

  it('gets the message again where it is declared idempotent', async () => {
    const { sweep, code: exit, desk } = await aDay(once('drop'), { idempotent: true });
    assert.equal(exit, 0);
    assert.equal(desk.calls.filter(({ path }) => path === '/sessions').length, 3);
    assert.equal(desk.calls.filter(({ path }) => path === '/chat').length, 3 * turns + 3);
    for (const words of (await transcripts(user, sweep)).values()) assert.equal(words.length, 2 * turns);
  });

  it('(500) gets the message again', async () => {
    const { code: exit, desk } = await aDay(once('error500'));
    assert.equal(exit, 0);
    assert.equal(desk.calls.filter(({ path }) => path === '/sessions').length, 3);
  });
});

describe('a target that nobody reaches', { timeout: 180_000 }, () => {
  it('breaks the runs: a refused connection is infrastructure, not the target', async () => {
    await user.write('sweep.json', sweepText(2, { target: deskTarget }));
    const desk = await openDesk();
    await desk.close();
    const end = await user.regatta(['run', 'sweep.json', '--id', 'nobody', '--json'], {
      env: { DESK_URL: desk.url },
    });
    assert.equal(end.code, 4, end.stderr);
    for (const result of await readResults(user, 'nobody')) {
      assert.equal(result.outcome, 'broken');
      assert.deepEqual(causeOf(result), ['unavailable', 'infrastructure']);
    }
  });
});
