import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { assertOutcomes, readResults, told } from './results.ts';
import { callsEach, practiceModel, sweepText } from './sweep-text.ts';
import { aUser, type User, until } from './user.ts';

let practice: PracticeModel;
let user: User;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 50 });
  user = await aUser({ PRACTICE_URL: practice.url });
});

beforeEach(() => practice.reset());

after(async () => {
  await user?.leave();
  await practice?.close();
});

describe('a sweep that did not get to its end', { timeout: 180_000 }, () => {
  it('halts where its budget is used up, and resume goes on with more', async () => {
    const models = { practice: { ...practiceModel, price: { input: 10, output: 10 } } };
    await user.write('sweep.json', sweepText(40, { models, concurrency: 4, budget_usd: 0.2 }));
    const halted = await user.regatta(['run', 'sweep.json', '--id', 'poor', '--json']);
    assert.equal(halted.code, 6, halted.stderr);
    const report = told(halted.stdout);
    assert.equal(report.halted?.reason, 'budget');
    assert.ok((report.usage.cost_usd ?? 1) <= 0.2, `spent ${report.usage.cost_usd}`);
    assert.ok((report.runs.passed ?? 0) > 0 && (report.runs.unplayed ?? 0) > 0, JSON.stringify(report.runs));
    assert.match(halted.stderr, /regatta resume poor --budget/);
    const played = (report.runs.passed ?? 0) * callsEach;
    assert.equal(practice.stats().calls, played);
    const end = await user.regatta(['resume', 'poor', '--budget', '10', '--json']);
    assert.equal(end.code, 0, end.stderr);
    assert.equal(told(end.stdout).runs.passed, 40);
    assert.equal(practice.stats().calls, 40 * callsEach);
  });

  it('is no longer halted once it goes on, even where that is killed', async () => {
    const models = { practice: { ...practiceModel, price: { input: 10, output: 10 } } };
    await user.write('sweep.json', sweepText(40, { models, concurrency: 4, budget_usd: 0.2 }));
    const args = ['--id', 'went-on', '--json'];
    assert.equal((await user.regatta(['run', 'sweep.json', ...args])).code, 6);
    const before = practice.stats().calls;
    const resumed = user.begin(['resume', 'went-on', '--budget', '10']);
    await until(() => practice.stats().calls > before + 3 * callsEach);
    resumed.kill('SIGKILL');
    await resumed.ended;
    const report = await user.regatta(['report', 'went-on', '--json', '-']);
    assert.equal(report.code, 4, report.stderr);
    assert.equal(told(report.stdout).halted, null);
    assert.ok((told(report.stdout).runs.unplayed ?? 0) > 0);
  });

  it('plays broken runs again with retry, and keeps the others as they are', async () => {
    const sick = await startPracticeModel({ latencyMs: 20, faults: { denied: 0.06, roles: ['target'] } });
    try {
      await user.write('sweep.json', sweepText(20));
      const env = { PRACTICE_URL: sick.url };
      const end = await user.regatta(['run', 'sweep.json', '--id', 'sick', '--json'], { env });
      assert.equal(end.code, 4, end.stderr);
      const { broken = 0, passed = 0 } = told(end.stdout).runs;
      assert.ok(broken > 0 && passed > 0, `${broken} broken, ${passed} passed`);
      assert.match(end.stderr, /regatta retry sick/);
      const retried = await user.regatta(['retry', 'sick', '--json']);
      assert.equal(retried.code, 0, retried.stderr);
      assert.equal(told(retried.stdout).runs.passed, 20);
      assert.equal(practice.stats().calls, broken * callsEach);
      const generations = (await readResults(user, 'sick')).map(({ generation }) => generation);
      assert.equal(generations.filter((generation) => generation === 2).length, broken);
      await assertOutcomes(user, 'sick', { passed: 20 });
    } finally {
      await sick.close();
    }
  });
});
