import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckResult, CheckSpec } from '../../domain/check.ts';
import { type CheckSet, checkSetOf, keptChecks, resultNow, withCheckSets } from '../../domain/check-set.ts';
import type { RunResult } from '../../domain/run.ts';
import type { SweepRecord } from '../../domain/sweep-record.ts';
import { aResult } from '../adapters/store-builders.ts';
import { aJudgeCheck, aModel, aSpec } from '../sweep-builders.ts';

const model = aModel('http://127.0.0.1:9/v1');
const polite = aJudgeCheck({ name: 'polite' });
const brief = aJudgeCheck({ name: 'brief' });

function aCheckSet(number: number, checks: readonly CheckSpec[], kept: readonly string[] = []): CheckSet {
  return {
    schema: 1,
    ...{ number, checks, kept, thresholds: [], env: [], hash: `hash-${number}`, estimateUsd: 0 },
    models: { [model.name]: model },
    created: { at: 0, regatta: 'test' },
  };
}

type Plan = Pick<SweepRecord, 'spec' | 'checkSets'>;

function judged(...checkSets: readonly CheckSet[]) {
  const plan: Plan = { spec: aSpec(model, { checks: [polite] }) };
  return withCheckSets(plan, checkSets);
}

function passed(check: string): CheckResult {
  return { check, required: true, verdict: 'pass', score: 1, reason: 'so it is' };
}

function verdictsOf({ checks }: RunResult) {
  return checks.map(({ check, verdict }) => [check, verdict]);
}

describe('a sweep with check sets', () => {
  it('is judged by the last one, and needs what all of them need from the environment', () => {
    const first = { ...aCheckSet(1, [brief]), env: ['A_KEY'] };
    const sweep = judged(first, { ...aCheckSet(2, [polite, brief]), env: ['B_KEY'] });
    assert.equal(checkSetOf(sweep), 2);
    assert.deepEqual(sweep.spec.checks, [polite, brief]);
    assert.deepEqual(sweep.spec.env, ['A_KEY', 'B_KEY']);
  });

  it('is judged as planned where there is none', () => {
    const sweep = judged();
    assert.equal(checkSetOf(sweep), 0);
    assert.deepEqual(sweep.spec.checks, [polite]);
  });
});

describe('a check is kept', () => {
  const before = aSpec(model, { checks: [polite, brief] });

  it('where it and its judge are the same', () => {
    const after = { checks: [brief, { ...polite }], models: before.models };
    assert.deepEqual(keptChecks(before, after), ['brief', 'polite']);
  });

  it('not where its words or its judge are others', () => {
    const large = { ...model, model: 'large' };
    assert.deepEqual(
      keptChecks(before, { checks: [{ ...polite, rubric: 'Else?' } as CheckSpec], models: before.models }),
      [],
    );
    assert.deepEqual(keptChecks(before, { checks: [polite], models: { [model.name]: large } }), []);
  });
});

describe('a result that an earlier check set judged', () => {
  it('keeps the answers that stand and is undecided by the others', () => {
    const result = aResult({ checks: [passed('polite')] });
    const now = resultNow(result, judged(aCheckSet(1, [polite, brief], ['polite'])));
    assert.deepEqual(verdictsOf(now), [
      ['polite', 'pass'],
      ['brief', 'undecided'],
    ]);
    assert.equal(now.outcome, 'undecided');
  });

  it('loses an answer that one of the sets between has dropped', () => {
    const result = aResult({ checks: [passed('polite')] });
    const now = resultNow(result, judged(aCheckSet(1, [brief]), aCheckSet(2, [polite], [])));
    assert.deepEqual(verdictsOf(now), [['polite', 'undecided']]);
  });

  it('stays failed where the target broke, and broken where the machinery did', () => {
    const sets = judged(aCheckSet(1, [brief]));
    const target = aResult({
      outcome: 'failed',
      ending: { kind: 'target_error', code: 'unavailable', detail: 'gone' },
    });
    assert.equal(resultNow(target, sets).outcome, 'failed');
    const broken = aResult({ outcome: 'broken' });
    assert.equal(resultNow(broken, sets), broken);
  });

  it('is itself once the newest has judged it', () => {
    const result = aResult({ checkSet: 1, checks: [passed('brief')] });
    assert.equal(resultNow(result, judged(aCheckSet(1, [brief]))), result);
  });

  it('is not asked of a check for a tag that it has not', () => {
    const now = resultNow(aResult(), judged(aCheckSet(1, [{ ...brief, forTag: 'loud' }])));
    assert.deepEqual([now.checks, now.outcome], [[], 'passed']);
  });
});
