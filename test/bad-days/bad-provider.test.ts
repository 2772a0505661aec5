import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { aDay, aUserWithServer } from './provider-day.ts';
import { callsEach } from './sweep-text.ts';
import type { User } from './user.ts';

let user: User;

before(async () => {
  user = await aUserWithServer();
});

after(() => user?.leave());

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
      const {
        code: exit,
        report,
        stats,
        stderr,
      } = await aDay(user, faults, 20, { timeouts: { call: '2s' } });
      assert.equal(exit, 0, stderr);
      assert.equal(report.runs.passed, 20);
      const met = Object.values(stats.faults).reduce((sum, count) => sum + count, 0);
      assert.ok(met > 0, 'no fault was met');
      assert.equal(stats.calls, 20 * callsEach + met);
      if (code !== undefined) assert.ok((report.retries[code] ?? 0) > 0, JSON.stringify(report.retries));
    });
  }
});
