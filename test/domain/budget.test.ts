import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayOpen, type Spending } from '../../domain/budget.ts';

function spending(more: Partial<Spending> = {}): Spending {
  return { costs: [], spentUsd: 0, open: 0, shareUsd: 1, estimateUsd: 0.1, openWhileLearning: 10, ...more };
}

const learned = [0.1, 0.1, 0.1, 0.1, 0.5];

const rows: readonly (readonly [string, Partial<Spending>, boolean])[] = [
  ['opens while its estimate fits', {}, true],
  ['opens the last one that fits exactly', { open: 1, shareUsd: 0.2 }, true],
  ['counts the open ones, too', { open: 2, shareUsd: 0.2 }, false],
  ['counts what was spent', { spentUsd: 0.95 }, false],
  ['opens ten at most while nothing was learned', { open: 10, shareUsd: 100 }, false],
  ['opens more once five runs have ended', { open: 10, shareUsd: 100, costs: learned }, true],
  ['expects the p90 cost of the ended runs, not their mean', { shareUsd: 0.4, costs: learned }, false],
  ['forgets the estimate then', { estimateUsd: 50, costs: learned }, true],
  ['still goes by the estimate after four', { shareUsd: 0.2, costs: [9, 9, 9, 9] }, true],
  ['opens runs that cost nothing', { shareUsd: 0, estimateUsd: 0 }, true],
  ['opens none on a share of nothing', { shareUsd: 0 }, false],
  ['opens none once more was spent than may be', { spentUsd: 2, estimateUsd: 0 }, false],
];

describe('a sweep with a budget', () => {
  for (const [title, more, opens] of rows) it(title, () => assert.equal(mayOpen(spending(more)), opens));

  it('goes by the ninth dearest of ten', () => {
    const costs = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 5];
    assert.equal(mayOpen(spending({ costs, shareUsd: 0.9 })), true);
    assert.equal(mayOpen(spending({ costs, shareUsd: 0.89 })), false);
  });
});
