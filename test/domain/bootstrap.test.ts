import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrapInterval } from '../../domain/bootstrap.ts';

const scores = [0.2, 0.4, 0.9, 0.7, 0.5, 0.6, 0.8, 0.3, 0.9, 0.7];

function mean(weights: readonly number[]): number {
  return scores.reduce((sum, score, index) => sum + score * (weights[index] ?? 0), 0) / scores.length;
}

test('the same seed gives the same interval, another seed nearly the same', () => {
  const interval = (seed: number) => bootstrapInterval(mean, { units: 10, level: 0.95, seed }) ?? [0, 0];
  assert.deepEqual(interval(1), interval(1));
  assert.ok(Math.abs(interval(1)[0] - interval(2)[0]) < 0.03);
});

test('the interval of a mean is about that of its standard error', () => {
  // Mean 0.6, standard deviation 0.2324, standard error 0.0735.
  const [low, high] = bootstrapInterval(mean, { units: 10, level: 0.95, seed: 1 }) ?? [0, 0];
  assert.ok(Math.abs(low - (0.6 - 1.96 * 0.0735)) < 0.02, String(low));
  assert.ok(Math.abs(high - (0.6 + 1.96 * 0.0735)) < 0.02, String(high));
});

test('every round draws as many units as there are', () => {
  bootstrapInterval(
    (weights) => {
      assert.equal(
        weights.reduce((sum, weight) => sum + weight, 0),
        10,
      );
      return 0;
    },
    { units: 10, level: 0.95, seed: 1 },
  );
});

test('a statistic without a value has no interval', () => {
  assert.equal(
    bootstrapInterval(() => undefined, { units: 3, level: 0.95, seed: 1 }),
    undefined,
  );
});
