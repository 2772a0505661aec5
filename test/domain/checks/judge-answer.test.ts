import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readOpinion, scoreOf } from '../../../domain/checks/judge-answer.ts';
import type { Json } from '../../../domain/json.ts';

const passFail = { kind: 'pass_fail' } as const;
const scale = { kind: 'scale', from: 1, to: 5 } as const;
const choices = { kind: 'choices', scores: { Great: 1, 'so so': 0.5, Bad: 0 } } as const;

const table: readonly [Json, typeof passFail | typeof scale | typeof choices, number | undefined][] = [
  [true, passFail, 1],
  ['Yes', passFail, 1],
  [' PASS. ', passFail, 1],
  [1, passFail, 1],
  ['**pass**', passFail, 1],
  [false, passFail, 0],
  ['no', passFail, 0],
  ['fail', passFail, 0],
  [0, passFail, 0],
  ['0', passFail, 0],
  ['maybe', passFail, undefined],
  [null, passFail, undefined],
  [4, scale, 4],
  ['4', scale, 4],
  ['4.5', scale, 4.5],
  ['4/5', scale, 4],
  [' 4 / 5 ', scale, 4],
  ['4/10', scale, undefined],
  [0, scale, undefined],
  [6, scale, undefined],
  ['6/5', scale, undefined],
  [true, scale, undefined],
  ['', scale, undefined],
  ['0x4', scale, undefined],
  ['four', scale, undefined],
  ['great', choices, 1],
  [' SO SO ', choices, 0.5],
  ['fine', choices, undefined],
];

describe("a judge's answer", () => {
  for (const [raw, answer, score] of table) {
    it(`${JSON.stringify(raw)} on ${answer.kind} is ${score ?? 'unreadable'}`, () => {
      assert.equal(scoreOf(raw, answer), score);
    });
  }

  it('is the same by schema, by tool and in text', () => {
    const opinions = [
      readOpinion({ text: '{"reason": "kind words", "answer": "4/5"}' }, scale),
      readOpinion({ text: '', args: { reason: 'kind words', answer: '4/5' } }, scale),
      readOpinion({ text: 'kind words\nanswer: 4/5' }, scale),
      readOpinion({ text: 'Reason: kind words\n**Answer:** 4/5' }, scale),
      readOpinion({ text: 'Here it is:\n```json\n{"reason": "kind words", "answer": 4}\n```' }, scale),
    ];
    for (const opinion of opinions) assert.deepEqual(opinion, { reason: 'kind words', score: 4 });
  });

  it('counts the last answer of a text', () => {
    assert.equal(readOpinion({ text: 'answer: pass would be wrong\nanswer: fail' }, passFail).score, 0);
  });

  it('has no score where there is no answer', () => {
    assert.deepEqual(readOpinion({ text: 'I like it' }, passFail), { reason: 'I like it' });
    assert.equal(readOpinion({ text: '{"reason": "cut off' }, passFail).score, undefined);
  });
});
