import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { type DevServer, startDevServer } from '../dev-server.ts';
import { startWorkerProcess } from '../fleet/worker-process.ts';
import { assertOutcomes } from './results.ts';
import { callsEach, sweepText } from './sweep-text.ts';
import { aUser, type Live, type User, until } from './user.ts';

const conversations = 40;

let practice: PracticeModel;
let user: User;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 100 });
  user = await aUser({ PRACTICE_URL: practice.url });
  await user.write('sweep.json', sweepText(conversations, { concurrency: 10 }));
});

beforeEach(() => practice.reset());

after(async () => {
  await user?.leave();
  await practice?.close();
});

async function underWay(id: string, how: { readonly ownGroup?: boolean } = {}): Promise<Live> {
  const run = user.begin(['run', 'sweep.json', '--id', id], how);
  await until(() => practice.stats().calls > (conversations * callsEach) / 3);
  return run;
}

/** No call was left in the middle, and none was made twice. */
async function assertGoesOn(id: string): Promise<void> {
  const { calls, in_flight, left } = practice.stats();
  assert.ok(calls < conversations * callsEach, 'it had ended already');
  assert.deepEqual([in_flight, left], [0, 0]);
  const end = await user.regatta(['resume', id]);
  assert.equal(end.code, 0, end.stderr);
  await assertOutcomes(user, id, { passed: conversations });
  assert.equal(practice.stats().calls, conversations * callsEach);
}

describe('a local run', { timeout: 120_000 }, () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`drains on ${signal}, says how to go on, and goes on at the next message`, async () => {
      const run = await underWay(signal);
      run.kill(signal);
      const end = await run.ended;
      assert.equal(end.code, 130, end.stderr);
      assert.match(end.stderr, new RegExp(`the sweep waits\\n.*regatta resume ${signal}\\n`));
      await assertGoesOn(signal);
    });
  }

  it('leaves at once on a second Ctrl-C', async () => {
    const slow = await startPracticeModel({ latencyMs: 60_000 });
    try {
      const run = user.begin(['run', 'sweep.json', '--id', 'hasty'], { env: { PRACTICE_URL: slow.url } });
      await until(() => slow.stats().in_flight > 0);
      run.kill('SIGINT');
      await run.says('once more leaves at once');
      run.kill('SIGINT');
      assert.equal((await run.ended).code, 130);
      assert.equal(slow.stats().answered, 0);
    } finally {
      await slow.close();
    }
  });

  it('does not take the Temporal server down with a Ctrl-C of its terminal', async () => {
    assert.equal((await user.regatta(['server', 'start'])).code, 0);
    const server = user.serverPid();
    const run = await underWay('terminal', { ownGroup: true });
    process.kill(-run.pid, 'SIGINT');
    assert.equal((await run.ended).code, 130);
    assert.equal(user.serverPid(), server);
    const status = await user.regatta(['server', 'status', '--json']);
    assert.equal(JSON.parse(status.stdout).pid, server);
    await assertGoesOn('terminal');
    assert.equal((await user.regatta(['server', 'stop'])).code, 0);
  });

  it('with --json tells the interruption as an object', async () => {
    const run = user.begin(['run', 'sweep.json', '--id', 'object', '--json']);
    await until(() => practice.stats().calls > 20);
    run.kill('SIGINT');
    const end = await run.ended;
    assert.equal(end.code, 130);
    const { error } = JSON.parse(end.stdout);
    assert.equal(error.kind, 'interrupted');
    assert.equal(error.hint, 'regatta resume object');
  });
});

describe('a worker of the fleet', { timeout: 120_000 }, () => {
  let server: DevServer;
  before(async () => {
    server = await startDevServer();
  });
  after(() => server?.stop());

  it('drains on SIGTERM: it leaves with 0, no call is cut off, and the next worker repeats none', async () => {
    const env = { PRACTICE_URL: practice.url };
    const store = `${user.folder}/.regatta/sweeps`;
    const options = {
      address: server.address,
      queue: 'fleet',
      store,
      flags: ['--allow-env', 'PRACTICE_URL'],
      env,
    };
    const address = ['--address', server.address];
    const first = await startWorkerProcess(options);
    const started = await user.regatta([
      'start',
      'sweep.json',
      '--id',
      'fleet',
      '--queue',
      'fleet',
      ...address,
    ]);
    assert.equal(started.code, 0, started.stderr);
    await until(() => practice.stats().calls > (conversations * callsEach) / 3);
    first.kill('SIGTERM');
    assert.equal(await first.gone, 0);
    const { calls, in_flight, left } = practice.stats();
    assert.ok(calls < conversations * callsEach);
    assert.deepEqual([in_flight, left], [0, 0]);
    const second = await startWorkerProcess(options);
    try {
      const end = await user.regatta(['watch', 'fleet', ...address]);
      assert.equal(end.code, 0, end.stderr);
      assert.equal(practice.stats().calls, conversations * callsEach);
    } finally {
      second.kill('SIGKILL');
      await second.gone;
    }
  });
});
