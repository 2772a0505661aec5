import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { aDay, aUserWithServer } from './provider-day.ts';
import { causeOf, readResults } from './results.ts';
import { callsEach } from './sweep-text.ts';
import type { User } from './user.ts';

let user: User;

before(async () => {
  user = await aUserWithServer();
});

after(() => user?.leave());

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
      const { sweep, code: exit, report } = await aDay(user, faults, 2, { timeouts: short });
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
      const { code: exit, report, stats } = await aDay(user, { [kind]: 1, roles: ['judge'] }, 2, { checks });
      assert.equal(exit, 4);
      assert.equal(report.runs.undecided, 2);
      assert.deepEqual([stats.by_role.driver, stats.by_role.target], [callsEach, callsEach]);
    });
  }
});
