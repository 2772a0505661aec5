import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passAtK, passHatK, percentileOf } from '../../domain/estimators.ts';

/** The share of the draws of k of n runs (the first `passes` pass) that fulfil a condition: counted one by one. */
function shareOfDraws(
  passes: number,
  total: number,
  k: number,
  isGood: (drawnPasses: number) => boolean,
): number {
  let [good, all] = [0, 0];
  for (let mask = 0; mask < 2 ** total; mask += 1) {
    const drawn = Array.from({ length: total }, (_, run) => run).filter((run) => (mask >> run) & 1);
    if (drawn.length !== k) continue;
    all += 1;
    if (isGood(drawn.filter((run) => run < passes).length)) good += 1;
  }
  return good / all;
}

test('pass^k is the share of draws of k runs that all pass', () => {
  for (let passes = 0; passes <= 6; passes += 1) {
    for (let k = 1; k <= 6; k += 1) {
      const counted = shareOfDraws(passes, 6, k, (drawn) => drawn === k);
      assert.ok(Math.abs((passHatK(passes, 6, k) ?? -1) - counted) < 1e-12, `${passes} of 6, k ${k}`);
    }
  }
});

test('pass@k is the share of draws of k runs of which one passes', () => {
  for (let passes = 0; passes <= 6; passes += 1) {
    for (let k = 1; k <= 6; k += 1) {
      const counted = shareOfDraws(passes, 6, k, (drawn) => drawn > 0);
      assert.ok(Math.abs((passAtK(passes, 6, k) ?? -1) - counted) < 1e-12, `${passes} of 6, k ${k}`);
    }
  }
});

test('k above the decided runs has no value', () => {
  assert.equal(passHatK(3, 3, 4), undefined);
  assert.equal(passAtK(3, 3, 4), undefined);
});

const values = (...numbers: readonly number[]) => numbers.map((value) => ({ value }));

test('a percentile is a value that was seen: the nearest rank', () => {
  const twenty = values(...Array.from({ length: 20 }, (_, index) => index + 1));
  assert.equal(percentileOf(twenty, 95), 19);
  assert.equal(percentileOf(twenty, 50), 10);
  assert.equal(percentileOf(twenty, 99), 20);
  assert.equal(percentileOf(values(7), 50), 7);
  assert.equal(percentileOf([], 50), undefined);
});

test('a percentile counts each value as often as its weight', () => {
  const weights = [1, 0, 3];
  assert.equal(
    percentileOf(
      values(1, 2, 3).map((item, index) => ({ ...item, index })),
      50,
      ({ index }) => weights[index] ?? 0,
    ),
    3,
  );
});
