import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  effectiveRuns,
  normalQuantile,
  type PassCount,
  rateInterval,
  tQuantile,
  twoSidedLevel,
  wilson,
} from '../../domain/interval.ts';
import { uniformChoices } from '../../domain/random.ts';

function assertClose(actual: number | undefined, expected: number, within = 1e-6): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) <= within, `${actual} is not ${expected}`);
}

const normalTable: readonly (readonly [number, number])[] = [
  [0.5, 0],
  [0.9, 1.2815515655446004],
  [0.95, 1.6448536269514722],
  [0.975, 1.959963984540054],
  [0.999, 3.090232306167813],
  [0.025, -1.959963984540054],
];

for (const [probability, quantile] of normalTable) {
  test(`the normal quantile of ${probability} is that of the tables`, () => {
    assertClose(normalQuantile(probability), quantile, 1e-10);
  });
}

const tTable: readonly (readonly [number, number, number])[] = [
  [0.975, 1, 12.706204736],
  [0.975, 2, 4.30265273],
  [0.975, 4, 2.776445105],
  [0.975, 5, 2.570581836],
  [0.95, 9, 1.833112933],
  [0.995, 30, 2.749995654],
  [0.975, 100, 1.983971519],
  [0.975, 1000, 1.962339081],
  [0.05, 9, -1.833112933],
];

for (const [probability, freedom, quantile] of tTable) {
  test(`the t quantile of ${probability} with ${freedom} degrees of freedom is that of the tables`, () => {
    assertClose(tQuantile(probability, freedom), quantile, 1e-7);
  });
}

test('the exact t quantile and its expansion meet at 200 degrees of freedom', () => {
  const [before, at] = [tQuantile(0.999, 199), tQuantile(0.999, 200)];
  assert.ok(before > at && before - at < 3e-4, `${before} ${at}`);
});

test('the interval of 8 passes of 10 by the normal quantile is that of the textbooks', () => {
  const [low, high] = wilson(0.8, 10, normalQuantile(0.975));
  assertClose(low, 0.490162, 1e-5);
  assertClose(high, 0.943318, 1e-5);
});

test('one scenario has the plain interval over its repeats', () => {
  assert.deepEqual(rateInterval([{ passes: 8, total: 10 }], 0.95), wilson(0.8, 10, normalQuantile(0.975)));
});

test('scenarios of which nothing was decided do not count', () => {
  const counts = [
    { passes: 8, total: 10 },
    { passes: 0, total: 0 },
  ];
  assert.deepEqual(rateInterval(counts, 0.95), rateInterval(counts.slice(0, 1), 0.95));
  assert.equal(rateInterval([{ passes: 0, total: 0 }], 0.95), undefined);
});

test('scenarios that are all or nothing count as one run each', () => {
  const counts = [5, 5, 0, 5].map((passes) => ({ passes, total: 5 }));
  assert.equal(effectiveRuns(counts), 4);
});

test('scenarios that differ less than chance count all their runs', () => {
  // p = 1/2, v = 4/3 * 4 * 0.25 / 12^2, p (1 - p) / v = 27 > 12
  const counts = [1, 2, 1, 2].map((passes) => ({ passes, total: 3 }));
  assert.equal(effectiveRuns(counts), 12);
});

test('scenarios that differ somewhat count between the two', () => {
  // p = 0.6, squares 4 + 1 + 1 + 4, v = 4/3 * 10 / 400, n_eff = 0.24 / v
  const counts = [1, 2, 4, 5].map((passes) => ({ passes, total: 5 }));
  assertClose(effectiveRuns(counts), 7.2, 1e-9);
});

test('scenarios that all pass are worth one run each', () => {
  const counts = [1, 1, 1].map(() => ({ passes: 5, total: 5 }));
  assert.deepEqual(rateInterval(counts, 0.95), wilson(1, 3, tQuantile(0.975, 2)));
});

test('an interval stays between 0 and 1', () => {
  assert.equal(rateInterval([{ passes: 3, total: 3 }], 0.95)?.[1], 1);
  assert.equal(rateInterval([{ passes: 0, total: 3 }], 0.95)?.[0], 0);
});

test('the bounds of a 90 % interval are one-sided 95 % bounds', () => {
  assertClose(twoSidedLevel(0.95), 0.9, 1e-12);
});

type World = { readonly scenarios: number; readonly repeats: number; readonly a: number; readonly b: number };

/** Scenarios whose pass rates are Beta(a, b): the a-th smallest of a + b - 1 uniform numbers. */
function playWorld({ scenarios, repeats, a, b }: World, next: () => number): readonly PassCount[] {
  return Array.from({ length: scenarios }, () => {
    const rate = Array.from({ length: a + b - 1 }, next).sort((x, y) => x - y)[a - 1] ?? 0;
    const passes = Array.from({ length: repeats }, next).filter((choice) => choice < rate).length;
    return { passes, total: repeats };
  });
}

function coverage(world: World, samples: number): { readonly clustered: number; readonly plain: number } {
  const choose = uniformChoices(11, JSON.stringify(world));
  let index = 0;
  const next = () => choose(index++);
  const truth = world.a / (world.a + world.b);
  let [clustered, plain] = [0, 0];
  for (let sample = 0; sample < samples; sample += 1) {
    const counts = playWorld(world, next);
    const rate = counts.reduce((sum, count) => sum + count.passes, 0) / (world.scenarios * world.repeats);
    const [low, high] = rateInterval(counts, 0.95) ?? [1, 0];
    const [plainLow, plainHigh] = wilson(rate, world.scenarios * world.repeats, 1.959964);
    if (low <= truth && truth <= high) clustered += 1;
    if (plainLow <= truth && truth <= plainHigh) plain += 1;
  }
  return { clustered: clustered / samples, plain: plain / samples };
}

const worlds: readonly World[] = [
  { scenarios: 6, repeats: 5, a: 2, b: 1 },
  { scenarios: 10, repeats: 5, a: 1, b: 1 },
  { scenarios: 20, repeats: 10, a: 3, b: 1 },
  { scenarios: 50, repeats: 5, a: 4, b: 1 },
  { scenarios: 100, repeats: 10, a: 2, b: 2 },
];

for (const world of worlds) {
  const { scenarios, repeats, a, b } = world;
  test(`the 95 % interval of ${scenarios} scenarios x ${repeats} repeats covers Beta(${a},${b}) as promised`, () => {
    const { clustered, plain } = coverage(world, 2000);
    assert.ok(clustered >= 0.92 && clustered <= 0.985, `covered ${clustered}`);
    assert.ok(plain < 0.9, `the plain interval covered ${plain}`);
  });
}
