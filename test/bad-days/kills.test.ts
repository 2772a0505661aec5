import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { assertOutcomes, told, transcripts } from './results.ts';
import { callsEach, sweepText } from './sweep-text.ts';
import { aUser, type Live, type User, until } from './user.ts';

const conversations = 100;

let practice: PracticeModel;
let user: User;
/** What an undisturbed sweep says, by run. */
let undisturbed: ReadonlyMap<string, readonly string[]>;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 50 });
  user = await aUser({ PRACTICE_URL: practice.url });
  await user.write('sweep.json', sweepText(conversations, { concurrency: 25 }));
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

/** Every run ended once, said what it would have said undisturbed, and no more was called again than was in flight. */
async function assertWhole(id: string, inFlight: number): Promise<void> {
  await assertOutcomes(user, id, { passed: conversations });
  assert.deepEqual(await transcripts(user, id), undisturbed);
  const repeated = practice.stats().calls - conversations * callsEach;
  assert.ok(repeated >= 0 && repeated <= inFlight, `${repeated} calls repeated, ${inFlight} were in flight`);
}

function killServer(): void {
  const pid = user.serverPid();
  assert.ok(pid !== undefined);
  process.kill(pid, 'SIGKILL');
}

describe('a local run', { timeout: 180_000 }, () => {
  it('that was killed is finished by resume, which repeats at most the calls in flight', async () => {
    const run = await underWay('killed');
    run.kill('SIGKILL');
    const inFlight = practice.stats().in_flight;
    assert.equal((await run.ended).code, 'SIGKILL');
    const end = await user.regatta(['resume', 'killed', '--json']);
    assert.equal(end.code, 0, end.stderr);
    assert.equal(told(end.stdout).runs.passed, conversations);
    await assertWhole('killed', inFlight);
  });

  it('brings its Temporal server back when that is killed, and repeats no call', async () => {
    const run = await underWay('serverless');
    killServer();
    const end = await run.ended;
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stderr, /The Temporal server has died; it is started again/);
    await assertWhole('serverless', 0);
  });

  it('whose machine lost everything at once is finished by resume', async () => {
    const run = await underWay('bereft');
    run.kill('SIGKILL');
    killServer();
    const inFlight = practice.stats().in_flight;
    await run.ended;
    const end = await user.regatta(['resume', 'bereft', '--json']);
    assert.equal(end.code, 0, end.stderr);
    await assertWhole('bereft', inFlight);
  });
});
