import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSeed, stableHash, uniform, uniformChoices } from '../../domain/random.ts';

test('a hash is the same on every machine and in every version', () => {
  assert.equal(stableHash('a'), 4025129501096028);
  assert.equal(stableHash('a', 'b'), 2300090522157979);
  assert.equal(runSeed(7, 'angry-refund', 1), 2031831367);
  assert.equal(runSeed(7, 'angry-refund', 2), 140604385);
  assert.equal(uniform(7, 'x', 0), 0.10587702393836129);
});

test('a hash tells apart where its parts end, and a number from its digits', () => {
  const hashes = [
    stableHash('ab'),
    stableHash('a', 'b'),
    stableHash('b', 'a'),
    stableHash('1'),
    stableHash(1),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
});

test('a run seed is an integer that every provider accepts', () => {
  for (let repeat = 1; repeat <= 1000; repeat += 1) {
    const seed = runSeed(7, 'refund', repeat);
    assert.ok(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31, String(seed));
  }
});

test('run seeds of ten thousand runs hardly ever meet', () => {
  const seeds = new Set<number>();
  for (let index = 0; index < 10_000; index += 1) seeds.add(runSeed(7, `scenario-${index}`, 1));
  assert.ok(seeds.size > 9_995, String(seeds.size));
});

test('choices with neighbouring indexes are uniform and independent', () => {
  const counts = new Array<number>(100).fill(0);
  const total = 50_000;
  for (let index = 0; index < total; index += 1) {
    const cell = Math.floor(uniform(7, 'm', index) * 10) * 10 + Math.floor(uniform(7, 'm', index + 1) * 10);
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  const expected = total / 100;
  const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  // The 0.1 % points of chi-square with 99 degrees of freedom are 60 and 149.
  assert.ok(chiSquare > 60 && chiSquare < 149, String(chiSquare));
});

test('fast choices depend on seed, purpose and index alone, and are uniform', () => {
  const choose = uniformChoices(7, 'm');
  assert.equal(choose(5), uniformChoices(7, 'm')(5));
  assert.notEqual(choose(5), uniformChoices(8, 'm')(5));
  const counts = new Array<number>(100).fill(0);
  for (let index = 0; index < 50_000; index += 1) {
    const cell = Math.floor(choose(index) * 10) * 10 + Math.floor(choose(index + 1) * 10);
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  const chiSquare = counts.reduce((sum, count) => sum + (count - 500) ** 2 / 500, 0);
  assert.ok(chiSquare > 60 && chiSquare < 149, String(chiSquare));
});
