import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { assertOutcomes, told, transcripts } from './results.ts';
import { callsEach, sweepText } from './sweep-text.ts';
import { aUser, type Live, type User, until } from './user.ts';

const conversations = 100;
const window = 25;

let practice: PracticeModel;
let user: User;
/** What an undisturbed sweep says, by run. */
let undisturbed: ReadonlyMap<string, readonly string[]>;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 50 });
  user = await aUser({ PRACTICE_URL: practice.url });
  await user.write('sweep.json', sweepText(conversations, { concurrency: window }));
  const calm = await user.regatta(['run', 'sweep.json', '--id', 'calm']);
  assert.equal(calm.code, 0, calm.stderr);
  undisturbed = await transcripts(user, 'calm');
});

afterEach(() => practice.reset());

after(async () => {
  await user?.leave();
  await practice?.close();
});

/** A run of which a third is done. */
async function underWay(id: string): Promise<Live> {
  practice.reset();
  const run = user.begin(['run', 'sweep.json', '--id', id, '--json']);
  await until(() => practice.stats().calls > (conversations * callsEach) / 3);
  return run;
}

/** Every run ended once, said what it would have said undisturbed, and repeated at most one call. */
async function assertWhole(id: string): Promise<void> {
  await assertOutcomes(user, id, { passed: conversations });
  assert.deepEqual(await transcripts(user, id), undisturbed);
  const { calls, conversations: each } = practice.stats();
  assert.ok(
    each.min_calls >= callsEach && each.max_calls <= callsEach + 1,
    `${each.max_calls} calls in one conversation`,
  );
  const repeated = calls - conversations * callsEach;
  assert.ok(repeated <= window, `${repeated} calls repeated, ${window} conversations were open`);
}

function killServer(): void {
  const pid = user.serverPid();
  assert.ok(pid !== undefined);
  process.kill(pid, 'SIGKILL');
}

describe('a local run', { timeout: 180_000 }, () => {
  it('that was killed is finished by resume, which repeats at most one call of each open conversation', async () => {
    const run = await underWay('killed');
    run.kill('SIGKILL');
    assert.equal((await run.ended).code, 'SIGKILL');
    const end = await user.regatta(['resume', 'killed', '--json']);
    assert.equal(end.code, 0, end.stderr);
    assert.equal(told(end.stdout).runs.passed, conversations);
    await assertWhole('killed');
  });

  it('brings its Temporal server back when that is killed, and repeats no call', async () => {
    const run = await underWay('serverless');
    killServer();
    const end = await run.ended;
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stderr, /The Temporal server has died; it is started again/);
    await assertWhole('serverless');
    assert.equal(practice.stats().calls, conversations * callsEach);
  });

  it('whose machine lost everything at once is finished by resume', async () => {
    const run = await underWay('bereft');
    run.kill('SIGKILL');
    killServer();
    await run.ended;
    const end = await user.regatta(['resume', 'bereft', '--json']);
    assert.equal(end.code, 0, end.stderr);
    await assertWhole('bereft');
  });
});
