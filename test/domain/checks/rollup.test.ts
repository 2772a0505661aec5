import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckSpec, Rollup } from '../../../domain/check.ts';
import { rollUp } from '../../../domain/checks/rollup.ts';
import type { Verdict } from '../../../domain/outcome.ts';
import { aCheck } from './builders.ts';

function roll(rollup: Rollup, verdicts: string, options: Partial<CheckSpec> = {}) {
  const byLetter: Record<string, Verdict> = { p: 'pass', f: 'fail', u: 'undecided' };
  const answers = [...verdicts].map((letter, index) => {
    const verdict = byLetter[letter] ?? 'fail';
    const score = verdict === 'undecided' ? {} : { score: verdict === 'pass' ? 1 : 0 };
    return { turn: index + 1, verdict, reason: `said ${letter}`, ...score };
  });
  return rollUp(aCheck({ kind: 'is_json' }, { rollup, at: 'each_turn', ...options }), answers);
}

const table: readonly [Rollup, string, Verdict][] = [
  ['any', 'fpf', 'pass'],
  ['any', 'fuf', 'undecided'],
  ['any', 'fff', 'fail'],
  ['all', 'ppp', 'pass'],
  ['all', 'pup', 'undecided'],
  ['all', 'puf', 'fail'],
  ['last', 'ffp', 'pass'],
  ['last', 'ppf', 'fail'],
  ['last', 'ppu', 'undecided'],
  ['mean', 'ppp', 'pass'],
  ['mean', 'ppf', 'fail'],
  ['mean', 'ppu', 'undecided'],
];

describe('a check that is asked at each turn', () => {
  for (const [rollup, verdicts, verdict] of table) {
    it(`comes to ${verdict} over ${verdicts} by ${rollup}`, () =>
      assert.equal(roll(rollup, verdicts).verdict, verdict));
  }

  it('holds the mean of its scores against the mark', () => {
    const result = roll('mean', 'pf', { atLeast: 0.5 });
    assert.deepEqual([result.verdict, result.score], ['pass', 0.5]);
  });

  it('names the first turn that failed', () => {
    const result = roll('all', 'pfpf');
    assert.deepEqual([result.failedTurn, result.reason], [2, 'turn 2: said f']);
  });

  it('fails where no turn was completed', () => {
    assert.deepEqual([roll('all', '').verdict, roll('all', '', { not: true }).verdict], ['fail', 'fail']);
  });

  it('keeps the scores turn by turn', () => {
    assert.deepEqual(roll('all', 'pu').turns, [
      { turn: 1, verdict: 'pass', reason: 'said p', score: 1 },
      { turn: 2, verdict: 'undecided', reason: 'said u' },
    ]);
  });
});
