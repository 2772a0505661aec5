import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json } from '../../domain/json.ts';
import type { Faults } from '../../practice/faults.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { causeOf, readResults, type Told, told } from './results.ts';
import { callsEach, sweepText } from './sweep-text.ts';
import { aUser, type User } from './user.ts';

let user: User;
let swept = 0;

before(async () => {
  user = await aUser();
  // Kept between the sweeps: starting a server takes longer than most of them.
  assert.equal((await user.regatta(['server', 'start'])).code, 0);
});

after(() => user?.leave());

type Day = {
  readonly sweep: string;
  readonly code: number | string;
  readonly report: Told;
  readonly stats: ReturnType<PracticeModel['stats']>;
  readonly stderr: string;
};

async function aDay(
  faults: Faults,
  count: number,
  fields: { readonly [name: string]: Json } = {},
): Promise<Day> {
  const practice = await startPracticeModel({ latencyMs: 20, faults });
  try {
    swept += 1;
    const sweep = `day-${swept}`;
    await user.write('sweep.json', sweepText(count, fields));
    const env = { PRACTICE_URL: practice.url };
    const end = await user.regatta(['run', 'sweep.json', '--id', sweep, '--json'], { env });
    return { sweep, code: end.code, report: told(end.stdout), stats: practice.stats(), stderr: end.stderr };
  } finally {
    await practice.close();
  }
}

describe('a model provider that fails now and then', { timeout: 180_000 }, () => {
  for (const [title, faults, code] of [
    ['answers 429 to a tenth of all calls', { rate429: 0.1 }, 'rate_limited'],
    ['answers 429 to a third of all calls', { rate429: 0.3 }, 'rate_limited'],
    ['drops one socket in twenty', { drop: 0.05 }, 'unavailable'],
    ['closes one socket in twenty half way through the answer', { cut: 0.05 }, undefined],
    ['hangs on every 50th call', { hangEvery: 50 }, 'timed_out'],
    ['answers 500 to one call in twenty', { rate500: 0.05 }, 'unavailable'],
    ['answers one call in twenty with torn JSON', { malformed: 0.05 }, 'bad_reply'],
    ['answers one call in twenty without a completion', { hollow: 0.05 }, 'bad_reply'],
    ['answers one call in twenty with an empty text', { empty: 0.05 }, undefined],
  ] as const) {
    it(`and ${title} loses no run and breaks none`, async () => {
      const { code: exit, report, stats, stderr } = await aDay(faults, 20, { timeouts: { call: '2s' } });
      assert.equal(exit, 0, stderr);
      assert.equal(report.runs.passed, 20);
      const met = Object.values(stats.faults).reduce((sum, count) => sum + count, 0);
      assert.ok(met > 0, 'no fault was met');
      assert.equal(stats.calls, 20 * callsEach + met);
      if (code !== undefined) assert.ok((report.retries[code] ?? 0) > 0, JSON.stringify(report.retries));
    });
  }
});

describe('a model provider that fails for good', { timeout: 180_000 }, () => {
  const short = { call: '1s', give_up: '3s' };
  for (const [title, faults, code, blame] of [
    ['tears the JSON of the target', { malformed: 1, roles: ['target'] }, 'bad_reply', 'infrastructure'],
    ['tears the JSON of the driver', { malformed: 1, roles: ['driver'] }, 'bad_reply', 'infrastructure'],
    ['gives the target no words', { empty: 1, roles: ['target'] }, 'bad_reply', 'infrastructure'],
    ['gives the driver no words', { empty: 1, roles: ['driver'] }, 'driver_unfit', 'driver'],
    ['sends 5 MB', { huge: 1, roles: ['target'] }, 'too_large', 'infrastructure'],
    ['answers 500', { rate500: 1, roles: ['target'] }, 'unavailable', 'infrastructure'],
    ['drops every socket', { drop: 1, roles: ['driver'] }, 'unavailable', 'infrastructure'],
    ['hangs', { hangEvery: 1, roles: ['target'] }, 'timed_out', 'infrastructure'],
  ] as const) {
    it(`and ${title} breaks the run: ${code}, blame ${blame}`, async () => {
      const { sweep, code: exit, report } = await aDay(faults, 2, { timeouts: short });
      assert.equal(exit, 4);
      assert.equal(report.runs.broken, 2);
      assert.deepEqual(report.faults, { [code]: 2 });
      for (const result of await readResults(user, sweep)) {
        assert.deepEqual(causeOf(result), [code, blame]);
      }
    });
  }

  for (const kind of ['malformed', 'empty'] as const) {
    it(`and answers judges so (${kind}) leaves their checks undecided and replays no conversation`, async () => {
      const checks = { polite: { judge: 'practice', rubric: 'The desk stays polite.' } };
      const { code: exit, report, stats } = await aDay({ [kind]: 1, roles: ['judge'] }, 2, { checks });
      assert.equal(exit, 4);
      assert.equal(report.runs.undecided, 2);
      assert.deepEqual([stats.by_role.driver, stats.by_role.target], [callsEach, callsEach]);
    });
  }
});
