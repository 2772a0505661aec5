import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JudgeAnswer } from '../../../domain/check.ts';
import { combineVotes } from '../../../domain/checks/votes.ts';
import { aCheck } from './builders.ts';

const passFail: JudgeAnswer = { kind: 'pass_fail' };
const scale: JudgeAnswer = { kind: 'scale', from: 1, to: 5 };

function combine(answer: JudgeAnswer, scores: readonly (number | undefined)[], atLeast?: number) {
  const check = aCheck(
    { kind: 'judge', model: 'm', rubric: '', answer, votes: scores.length },
    atLeast === undefined ? {} : { atLeast },
  );
  const votes = scores.map((score, index) => ({
    reason: `vote ${index + 1}`,
    ...(score === undefined ? {} : { score }),
  }));
  const { verdict, score } = combineVotes(check, votes);
  return [verdict, score];
}

const undecided = ['undecided', undefined];

describe('the votes of a judge', () => {
  it('come to what most of them say', () => {
    assert.deepEqual(combine(passFail, [1, 0, 1]), ['pass', 1]);
    assert.deepEqual(combine({ kind: 'choices', scores: { a: 1, b: 0.5 } }, [0.5, 1, 0.5]), ['fail', 0.5]);
  });

  it('come to the median on a scale', () => {
    assert.deepEqual(combine(scale, [5, 1, 4], 4), ['pass', 4]);
    assert.deepEqual(combine(scale, [4, 5], 4), ['pass', 4.5]);
  });

  it('are undecided in a tie', () => {
    assert.deepEqual(combine(passFail, [1, 0]), undecided);
    assert.deepEqual(combine(scale, [3, 4], 4), undecided);
  });

  it('are undecided where fewer than half could be read', () => {
    assert.deepEqual(combine(passFail, [1, undefined, undefined]), undecided);
    assert.deepEqual(combine(passFail, [1, undefined]), ['pass', 1]);
  });

  it('need the upper end of a scale where there is no mark', () => {
    assert.deepEqual([combine(scale, [4])[0], combine(scale, [5])[0]], ['fail', 'pass']);
  });

  it('carry the code of the fault that kept them from being cast', () => {
    const check = aCheck({ kind: 'judge', model: 'm', rubric: '', answer: passFail, votes: 1 });
    assert.deepEqual(combineVotes(check, [{ reason: 'no answer in time', fault: 'timed_out' }]), {
      verdict: 'undecided',
      reason: 'no answer in time',
      faultCode: 'timed_out',
    });
  });
});
