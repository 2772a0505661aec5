import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { PracticeOptions } from '../../practice/options.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { told } from './results.ts';
import { sweepText } from './sweep-text.ts';
import { aUser, type User } from './user.ts';

const leaving: (() => Promise<void>)[] = [];

async function setUp(
  options: PracticeOptions,
): Promise<{ readonly practice: PracticeModel; readonly user: User }> {
  const practice = await startPracticeModel({ latencyMs: 20, ...options });
  const user = await aUser({ PRACTICE_URL: practice.url, KEY: 'wrong-key' });
  leaving.push(user.leave, practice.close);
  return { practice, user };
}

after(() => Promise.all(leaving.map((leave) => leave())));

const keyed = { practice: { model: 'plain', base_url: `\${PRACTICE_URL}`, api_key: `\${KEY}` } };

describe('an endpoint that does not take us', { timeout: 180_000 }, () => {
  for (const [title, options, word] of [
    ['a refused key', { apiKey: 'right-key' }, /401/],
    ['an unknown model', { models: ['grand'] }, /404|does not exist/],
  ] as const) {
    it(`(${title}) halts the sweep before its first run: exit 6, all unplayed, the endpoint named`, async () => {
      const { practice, user } = await setUp(options);
      await user.write('sweep.json', sweepText(30, { models: keyed }));
      const end = await user.regatta(['run', 'sweep.json', '--id', 'refused', '--json']);
      assert.equal(end.code, 6, end.stderr);
      const report = told(end.stdout);
      assert.equal(report.runs.unplayed, 30);
      assert.equal(report.halted?.reason, 'configuration');
      for (const text of [report.halted?.detail ?? '', end.stderr]) {
        assert.ok(text.includes(`practice at \${PRACTICE_URL}`), text);
        assert.match(text, word);
        assert.ok(!text.includes('wrong-key'), text);
      }
      assert.match(end.stderr, /regatta resume refused/);
      assert.equal(practice.stats().calls, 0);
    });
  }

  it('halts after twenty refusals in a row, ends the open runs and opens no more', async () => {
    const { user } = await setUp({ faults: { denied: 1, afterCalls: 60 } });
    await user.write('sweep.json', sweepText(100, { models: keyed, concurrency: 5 }));
    const end = await user.regatta(['run', 'sweep.json', '--id', 'later', '--json']);
    assert.equal(end.code, 6, end.stderr);
    const { runs, halted, faults } = told(end.stdout);
    assert.equal(halted?.reason, 'configuration');
    assert.match(halted?.detail ?? '', /practice/);
    assert.match(halted?.detail ?? '', /denied/);
    const { planned, passed = 0, broken = 0, unplayed = 0 } = runs;
    assert.equal(passed + broken + unplayed, planned);
    assert.ok(broken >= 20 && broken <= 30, `${broken} broken`);
    assert.ok(unplayed >= 55, `${unplayed} unplayed`);
    assert.equal(faults.denied, broken);
  });

  it('does not halt while others of its calls succeed', async () => {
    const { user } = await setUp({ faults: { denied: 0.1 } });
    await user.write('sweep.json', sweepText(60));
    const end = await user.regatta(['run', 'sweep.json', '--json']);
    const { runs, halted } = told(end.stdout);
    assert.equal(halted, null);
    assert.equal(runs.unplayed, 0);
    assert.ok((runs.broken ?? 0) > 20, JSON.stringify(runs));
    assert.equal((runs.passed ?? 0) + (runs.broken ?? 0), 60);
  });
});
