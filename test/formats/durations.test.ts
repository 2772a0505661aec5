import assert from 'node:assert/strict';
import { it } from 'node:test';
import { durationMs } from '../../formats/durations.ts';

const durations: readonly (readonly [written: string | number, ms: number | undefined])[] = [
  ['500ms', 500],
  ['60s', 60_000],
  ['15m', 900_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['2.5m', 150_000],
  ['90', 90_000],
  [1.5, 1500],
  ['1h30m', undefined],
  ['-5s', undefined],
  ['5 s', undefined],
  ['', undefined],
];
for (const [written, ms] of durations) {
  it(`${JSON.stringify(written)} is ${ms === undefined ? 'no duration' : `${ms} ms`}`, () =>
    assert.equal(durationMs(written), ms));
}
