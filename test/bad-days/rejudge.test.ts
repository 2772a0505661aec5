import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { told } from './results.ts';
import { practiceModel, sweepText } from './sweep-text.ts';
import { aUser, type User, until } from './user.ts';

let practice: PracticeModel;
let user: User;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 5 });
  user = await aUser({ PRACTICE_URL: practice.url, JUDGE_URL: practice.url });
  assert.equal((await user.regatta(['server', 'start'])).code, 0);
});

beforeEach(() => practice.reset());

after(async () => {
  await user?.leave();
  await practice?.close();
});

const runs = 12;
const greets = { contains_any: ['hello', 'the'] };
const settled = { judge: 'practice', rubric: 'The desk speaks.' };

async function played(id: string, fields: Parameters<typeof sweepText>[1] = {}): Promise<void> {
  await user.write('sweep.json', sweepText(runs, { conversation: { max_turns: 2 }, ...fields }));
  const end = await user.regatta(['run', 'sweep.json', '--id', id]);
  assert.notEqual(end.code, 1, end.stderr);
  practice.reset();
}

function checksFile(content: object): Promise<string> {
  return user.write('checks.json', JSON.stringify(content));
}

describe('rejudge --checks', { timeout: 240_000 }, () => {
  it('judges what was said by other checks, calls neither driver nor target, and its gate is the exit code', async () => {
    await played('other', { checks: { greets } });
    await checksFile({
      checks: { polite: { judge: 'second', rubric: 'The desk speaks.', scale: '1..5', at_least: 1 } },
      thresholds: ['pass_rate(polite) >= 0.9'],
      models: { second: { ...practiceModel, base_url: `\${JUDGE_URL}` } },
    });
    const env = { PRACTICE_URL: '' };
    const end = await user.regatta(['rejudge', 'other', '--checks', 'checks.json', '--json'], { env });
    assert.equal(end.code, 0, end.stderr);
    assert.deepEqual(practice.stats().by_role, { driver: 0, target: 0, judge: runs });
    const report = JSON.parse(end.stdout);
    assert.deepEqual(
      report.checks.map(({ check, passed }: { check: string; passed: number }) => [check, passed]),
      [['polite', runs]],
    );
    assert.deepEqual([report.check_set.number, report.check_set.file], [1, 'checks.json']);
    assert.match(end.stderr, /Judged by check set 1 \(checks\.json\)/);
    const shown = JSON.parse((await user.regatta(['show', 'other/s0/1', '--json'])).stdout);
    assert.deepEqual([shown.generation, shown.check_set, shown.checks[0].check], [2, 1, 'polite']);
    const listed = JSON.parse((await user.regatta(['list', '--json'])).stdout);
    const { state, gate } = listed.sweeps.find(({ id }: { id: string }) => id === 'other');
    assert.deepEqual([state, gate], ['ended', 'open']);
  });

  it('does not ask again what a check with the same words was answered already', async () => {
    await played('kept', { checks: { settled } });
    await checksFile({ checks: { settled, greets, quiet: { contains_any: ['no such words'] } } });
    const end = await user.regatta(['rejudge', 'kept', '--checks', 'checks.json', '--json']);
    assert.equal(end.code, 3, end.stderr);
    assert.equal(practice.stats().calls, 0);
    assert.equal(told(end.stdout).runs.failed, runs);
    const again = await user.regatta(['rejudge', 'kept', '--checks', 'checks.json', '--json']);
    assert.equal(again.code, 3, again.stderr);
    assert.equal(JSON.parse(again.stdout).check_set.number, 1);
  });

  it('that is killed in the middle goes on with resume, and repeats at most the judge calls in flight', async () => {
    await played('killed', { checks: { greets }, concurrency: 3 });
    const slow = await startPracticeModel({ latencyMs: 300 });
    try {
      const env = { PRACTICE_URL: slow.url };
      await checksFile({ checks: { settled } });
      const live = user.begin(['rejudge', 'killed', '--checks', 'checks.json'], { env });
      await until(() => (slow.stats().by_role.judge ?? 0) >= 5);
      live.kill('SIGKILL');
      await live.ended;
      const between = await user.regatta(['report', 'killed', '--json', '-']);
      assert.equal(between.code, 4, between.stderr);
      assert.deepEqual(
        JSON.parse(between.stdout).checks.map(({ check }: { check: string }) => check),
        ['settled'],
      );
      const end = await user.regatta(['resume', 'killed', '--json'], { env });
      assert.equal(end.code, 0, end.stderr);
      const { driver, target, judge = 0 } = slow.stats().by_role;
      assert.deepEqual([driver, target], [0, 0]);
      assert.ok(judge >= runs && judge <= runs + 3, `${judge} calls`);
      assert.equal(told(end.stdout).runs.passed, runs);
    } finally {
      await slow.close();
    }
  });

  it('takes no other checks while it is live, and leaves what was there when it is cancelled', async () => {
    await played('cut', { checks: { settled }, concurrency: 2 });
    const slow = await startPracticeModel({ latencyMs: 1_000 });
    try {
      await checksFile({ checks: { other: { ...settled, rubric: 'The desk speaks up.' } } });
      const args = ['rejudge', 'cut', '--checks', 'checks.json'];
      const live = user.begin(args, { env: { PRACTICE_URL: slow.url } });
      await until(() => (slow.stats().by_role.judge ?? 0) >= 3);
      await checksFile({ checks: { greets } });
      const second = await user.regatta(args);
      assert.equal(second.code, 2, second.stderr);
      assert.match(second.stderr, /cut is live/);
      assert.equal((await user.regatta(['cancel', 'cut'])).code, 0);
      const end = await live.ended;
      assert.equal(end.code, 4, end.stderr);
      const report = await user.regatta(['report', 'cut', '--json', '-']);
      const { cancelled = 0, passed = 0, undecided = 0 } = JSON.parse(report.stdout).runs;
      assert.deepEqual([cancelled, passed + undecided], [0, runs]);
      assert.equal((await user.store.readResult('cut/s11/1'))?.outcome, 'passed');
    } finally {
      await slow.close();
    }
  });

  it('halts at its budget, what the conversations cost included, and goes on with more', async () => {
    const price = { input: 100, output: 100 };
    await played('dear', { models: { practice: { ...practiceModel, price } }, checks: { greets } });
    const spent = JSON.parse((await user.regatta(['report', 'dear', '--json', '-'])).stdout).usage.cost_usd;
    await checksFile({ checks: { settled } });
    const limit = spent * 1.05;
    const args = ['rejudge', 'dear', '--checks', 'checks.json', '--concurrency', '1', '--json'];
    const end = await user.regatta([...args, '--budget', String(limit)]);
    assert.equal(end.code, 6, end.stderr);
    assert.ok(JSON.parse(end.stdout).usage.cost_usd <= limit);
    const more = await user.regatta(['rejudge', 'dear', '--budget', String(spent * 100), '--json']);
    assert.equal(more.code, 0, more.stderr);
    assert.equal(told(more.stdout).runs.passed, runs);
  });

  it('tells all mistakes of its file at once, with their places, and leaves the sweep as it was', async () => {
    await played('wrong', { checks: { greets } });
    const text = [
      'checks:',
      '  polite:',
      '    judge: nobody',
      '    rubric: Is it {polit}?',
      'threshold:',
      '  - pass_rate >= 0.9',
    ].join('\n');
    await user.write('checks.yaml', text);
    const end = await user.regatta(['rejudge', 'wrong', '--checks', 'checks.yaml']);
    assert.equal(end.code, 2);
    assert.match(end.stderr, /checks\.yaml:3:12.*no model "nobody"/);
    assert.match(end.stderr, /checks\.yaml:4:13.*polit/);
    assert.match(end.stderr, /checks\.yaml:5:1.*unknown key "threshold"/);
    assert.equal((await user.store.readSweep('wrong'))?.checkSets, undefined);
    assert.equal(practice.stats().calls, 0);
  });
});
