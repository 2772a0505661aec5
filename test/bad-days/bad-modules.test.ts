import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { type DevServer, startDevServer } from '../dev-server.ts';
import { startWorkerProcess, type WorkerProcess } from '../fleet/worker-process.ts';
import { sweepText } from './sweep-text.ts';
import { aUser, type User } from './user.ts';

const module = (word: string) => `export const reply = () => '${word}';\n`;

let practice: PracticeModel;
let server: DevServer;
let user: User;
let worker: WorkerProcess | undefined;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 20 });
  server = await startDevServer();
  user = await aUser({ PRACTICE_URL: practice.url, TEMPORAL_ADDRESS: server.address });
});

after(async () => {
  worker?.kill('SIGKILL');
  await worker?.gone;
  await user?.leave();
  await server?.stop();
  await practice?.close();
});

describe('a worker whose project is not the one that was planned', { timeout: 180_000 }, () => {
  it('is told what it lacks before the first paid call, and plays once it has it', async () => {
    await user.write('desk.ts', module('planned'));
    await user.write('sweep.json', sweepText(3, { target: { module: 'desk.ts' } }));
    const started = await user.regatta(['start', 'sweep.json', '--id', 'changed', '--queue', 'desks']);
    assert.equal(started.code, 0, started.stderr);
    assert.equal(started.stdout, 'changed\n');
    await user.write('desk.ts', module('another'));
    const store = `${user.folder}/.regatta/sweeps`;
    worker = await startWorkerProcess({
      ...{ address: server.address, queue: 'desks', store },
      flags: ['--project', user.folder, '--allow-env', 'PRACTICE_URL'],
      env: { PRACTICE_URL: practice.url },
    });
    const watch = user.begin(['watch', 'changed', '--json']);
    await watch.says('desk.ts has other content than the sweep was planned with');
    assert.deepEqual([practice.stats().calls, practice.stats().probes], [0, 0]);
    await user.write('desk.ts', module('planned'));
    const end = await watch.ended;
    assert.equal(end.code, 0, end.stderr);
    assert.equal(JSON.parse(end.stdout).runs.passed, 3);
  });

  it('is told which environment variable it may not use', async () => {
    await user.write(
      'other.json',
      sweepText(1, { models: { practice: { model: 'plain', base_url: `\${OTHER_URL}` } } }),
    );
    const started = await user.regatta(['start', 'other.json', '--id', 'nameless', '--queue', 'desks']);
    assert.equal(started.code, 0, started.stderr);
    const calls = practice.stats().calls;
    const watch = user.begin(['watch', 'nameless']);
    await watch.says('OTHER_URL');
    const cancelled = await user.regatta(['cancel', 'nameless']);
    assert.equal(cancelled.code, 0, cancelled.stderr);
    await watch.ended;
    assert.equal(practice.stats().calls, calls);
  });
});
