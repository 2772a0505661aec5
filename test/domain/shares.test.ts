import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { liveShards, splitBudget, splitWindow } from '../../domain/shares.ts';

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

describe('a window', () => {
  for (const [window, shards] of [
    [1, 2],
    [100, 2],
    [200, 2],
    [201, 3],
    [1_000, 10],
  ] as const) {
    it(`of ${window} is shared by ${shards} shards`, () => assert.equal(liveShards(window), shards));
  }

  it('is split into whole shares that sum to it and differ by one at most', () => {
    for (let window = 0; window <= 40; window += 1) {
      for (let parts = 1; parts <= 7; parts += 1) {
        const shares = splitWindow(window, parts);
        assert.equal(shares.length, parts);
        assert.equal(sum(shares), window);
        assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, `${shares}`);
      }
    }
  });
});

describe('a budget', () => {
  const split = (more: object) =>
    splitBudget({ budgetUsd: 10, spentElsewhere: 1, spent: [2, 0, 1], concentrated: false, ...more });

  it('leaves each shard what it has spent, and an equal part of what is left', () => {
    assert.deepEqual(split({}), [4, 2, 3]);
  });

  it('is whole: shares and what was spent elsewhere sum to it', () => {
    for (const budgetUsd of [4, 7.77, 10, 1_000.01]) {
      for (const concentrated of [false, true]) {
        assert.ok(Math.abs(sum(split({ budgetUsd, concentrated })) + 1 - budgetUsd) < 1e-9);
      }
    }
  });

  it('that is too small for many shards goes to the first', () => {
    assert.deepEqual(split({ concentrated: true }), [8, 0, 1]);
  });

  it('that is overspent leaves nothing more to spend', () => {
    assert.deepEqual(split({ budgetUsd: 3 }), [2, 0, 1]);
  });

  it('of a sweep without live shards is not split', () => {
    assert.deepEqual(split({ spent: [] }), []);
  });
});
