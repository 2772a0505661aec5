import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult, CheckSpec } from '../../domain/check.ts';
import { decideGate } from '../../domain/gate.ts';
import { noOutcomes, type Outcome, type OutcomeCounts } from '../../domain/outcome.ts';
import { type PlannedRun, type PlayedRun, pairRuns } from '../../domain/sample.ts';
import type { GateVerdict } from '../../domain/threshold.ts';
import { evaluateThresholds, type ThresholdResult } from '../../domain/threshold-result.ts';
import { noUsage } from '../../domain/usage.ts';
import { parseThreshold } from '../../formats/threshold-grammar.ts';
import { aRun, type RunFacts } from './a-run.ts';

function runsOf(...outcomes: readonly RunFacts['outcome'][]): readonly PlayedRun[] {
  return outcomes.map((outcome, index) => aRun({ outcome }, index));
}

function aCheck(facts: Partial<CheckSpec> & { readonly name: string }): CheckSpec {
  const common = { sees: 'replies', at: 'end', rollup: 'all', required: true, not: false } as const;
  return { kind: 'equals', text: 'yes', ...common, ...facts } as CheckSpec;
}

const polite = aCheck({
  name: 'polite',
  ...({ kind: 'judge', answer: { kind: 'scale', from: 1, to: 5 } } as Partial<CheckSpec>),
});
const refunded = aCheck({ name: 'refunded' });
const onlyVip = aCheck({ name: 'only_vip', forTag: 'vip' });
const checks = [polite, refunded, onlyVip];

function checked(check: string, verdict: CheckResult['verdict'], score?: number): CheckResult {
  return { check, verdict, required: true, reason: 'x', ...(score === undefined ? {} : { score }) };
}

function evaluate(text: string, runs: readonly PlayedRun[], allowMissing = 0.01): ThresholdResult {
  const parsed = parseThreshold(text, { checks: checks.map(({ name }) => name) });
  assert.equal(parsed.kind, 'threshold', JSON.stringify(parsed));
  const [result] =
    parsed.kind === 'threshold' ? evaluateThresholds([parsed.threshold], runs, { checks, allowMissing }) : [];
  assert.ok(result);
  return result;
}

const nine = new Array<Outcome>(9).fill('passed');

const missingTable: readonly (readonly [string, readonly RunFacts['outcome'][], GateVerdict])[] = [
  ['pass_rate >= 0.9', [...nine, 'failed'], 'open'],
  ['pass_rate > 0.9', [...nine, 'failed'], 'shut'],
  ['pass_rate >= 0.9', [...nine, 'broken'], 'open'],
  ['pass_rate >= 0.95', [...nine, 'broken'], 'undecided'],
  ['pass_rate >= 0.95', [...nine, 'cancelled'], 'undecided'],
  ['pass_rate >= 0.95', [...nine, 'unplayed'], 'undecided'],
  ['pass_rate >= 0.95', [...nine, 'absent'], 'undecided'],
  ['pass_rate >= 0.95', [...nine, 'undecided'], 'undecided'],
  ['pass_rate >= 0.95', [...nine, 'skipped'], 'open'],
  ['pass_rate >= 0.95', ['passed', 'failed', 'broken'], 'shut'],
  ['pass_rate <= 0.5', ['failed', 'failed', 'broken'], 'open'],
  ['pass_rate <= 0.3', ['failed', 'failed', 'broken'], 'undecided'],
  ['pass_rate == 0.5', ['passed', 'failed'], 'open'],
  ['pass_rate == 0.5', ['passed', 'failed', 'failed', 'broken', 'broken'], 'undecided'],
  ['pass_rate != 0.5', ['passed', 'failed', 'failed', 'broken', 'broken'], 'undecided'],
  ['pass_rate == 0.1', ['passed', 'failed', 'failed', 'broken', 'broken'], 'shut'],
  ['pass_rate >= 2/3', ['passed', 'passed', 'failed'], 'open'],
  ['pass_rate <= 2/3', ['passed', 'passed', 'failed'], 'open'],
  ['pass_rate > 2/3', ['passed', 'passed', 'failed'], 'shut'],
  ['pass_rate >= 0.5', ['skipped', 'skipped'], 'undecided'],
  ['pass^2 >= 1', ['passed', 'passed', 'broken'], 'undecided'],
  ['pass^2 >= 0.5', ['passed', 'failed', 'broken'], 'shut'],
  ['pass@2 >= 1', ['passed', 'passed', 'failed'], 'open'],
  ['pass@2 >= 1', ['passed', 'failed', 'broken'], 'undecided'],
  ['broken_rate <= 0.1', [...nine, 'broken'], 'open'],
  ['broken_rate <= 0', [...nine, 'broken'], 'shut'],
  ['broken_rate <= 0', [...nine, 'unplayed'], 'undecided'],
  ['runs >= 10', [...nine, 'undecided'], 'open'],
  ['runs >= 10', [...nine, 'broken'], 'undecided'],
  ['runs >= 10', nine, 'shut'],
  ['p50(reply_seconds) <= 2', ['passed', 'passed', 'broken'], 'open'],
  ['p95(reply_seconds) <= 2', ['passed', 'passed', 'broken'], 'undecided'],
  ['p95(reply_seconds) <= 1', ['passed', 'passed'], 'shut'],
  ['mean(turns) <= 2', [...nine, 'broken'], 'undecided'],
  ['mean(turns) <= 2', nine, 'open'],
  ['cost_usd <= 20', [...nine, 'broken'], 'open'],
  ['cost_usd <= 20', [...nine, 'unplayed'], 'undecided'],
];

for (const [text, outcomes, verdict] of missingTable) {
  test(`${text} over ${outcomes.join(', ')} is ${verdict}`, () => {
    assert.equal(evaluate(text, runsOf(...outcomes)).verdict, verdict);
  });
}

test('a value is that of the decided runs, with its worst and best beside it', () => {
  const { value, worst, best, missing, reason, interval } = evaluate(
    'pass_rate >= 0.8',
    runsOf('passed', 'passed', 'failed', 'broken'),
  );
  assert.deepEqual({ value, worst, best, missing }, { value: 2 / 3, worst: 0.5, best: 0.75, missing: 1 });
  assert.equal(reason, '0.6667 does not meet >= 0.8 (1 run is missing: 0.5 at worst, 0.75 at best)');
  assert.deepEqual(
    interval?.map((bound) => Math.round(bound * 1000)),
    [208, 939],
  );
});

test('few missing runs are left out of a mean without limits', () => {
  const runs = runsOf(...nine, 'broken');
  assert.equal(evaluate('mean(turns) <= 2', runs, 0.1).verdict, 'open');
  assert.equal(evaluate('mean(turns) <= 2', runs, 0.09).verdict, 'undecided');
});

test('money that is spent stays spent, whatever is missing', () => {
  const usage = { ...noUsage, target: { ...noUsage.target, costUsd: 3 } };
  const runs = [aRun({ outcome: 'failed', usage }, 0), aRun({ outcome: 'unplayed' }, 1)];
  assert.equal(evaluate('cost_usd <= 2', runs).verdict, 'shut');
});

test('missing scores of a check count at the ends of its scale', () => {
  const runs = [
    aRun({ outcome: 'passed', checks: [checked('polite', 'pass', 5)] }, 0),
    aRun({ outcome: 'passed', checks: [checked('polite', 'undecided')] }, 1),
  ];
  const { value, worst, best, verdict } = evaluate('mean(polite) >= 4', runs);
  assert.deepEqual({ value, worst, best, verdict }, { value: 5, worst: 3, best: 5, verdict: 'undecided' });
  assert.equal(evaluate('mean(polite) >= 3', runs).verdict, 'open');
  assert.equal(evaluate('min(polite) >= 2', runs).verdict, 'undecided');
  assert.equal(evaluate('max(polite) >= 5', runs).verdict, 'open');
});

test('a check that is asked of a tag only counts the runs with the tag', () => {
  const runs = [
    aRun({ outcome: 'passed', tags: ['vip'], checks: [checked('only_vip', 'pass', 1)] }, 0),
    aRun({ outcome: 'failed', scenario: 'other' }, 0),
  ];
  const result = evaluate('pass_rate(only_vip) >= 1 for each scenario', runs);
  assert.equal(result.verdict, 'open');
  assert.deepEqual(
    result.groups?.map(({ group, value }) => [group, value]),
    [['s', 1]],
  );
});

test("a target's own error passes none of the checks that were never asked", () => {
  const ending = { kind: 'target_error', code: 'unavailable', detail: '500' } as const;
  const runs = [aRun({ outcome: 'failed', ending }, 0)];
  assert.equal(evaluate('pass_rate(refunded) >= 0.1', runs).verdict, 'shut');
  assert.equal(evaluate('mean(refunded) >= 0.1', runs).verdict, 'undecided');
});

test('a check without a result is missing', () => {
  assert.equal(evaluate('pass_rate(refunded) >= 0.1', runsOf('passed')).verdict, 'undecided');
});

test('pass^k is the mean over scenarios of the share of draws that all pass', () => {
  const runs = [
    ...runsOf('passed', 'passed', 'failed'),
    ...['passed', 'passed', 'passed'].map((outcome, index) =>
      aRun({ outcome: outcome as Outcome, scenario: 'b' }, index),
    ),
  ];
  // (C(2,2) / C(3,2) + 1) / 2
  assert.equal(evaluate('pass^2 >= 0.5', runs).value, 2 / 3);
});

test('pass^k never mixes the runs of two variants', () => {
  const runs = ['a', 'b'].flatMap((variant) => [aRun({ outcome: 'passed', variant }, 0)]);
  const { verdict, reason } = evaluate('pass^2 >= 0.5', runs);
  assert.equal(verdict, 'undecided');
  assert.equal(reason, 'needs 2 runs of each scenario, one has 1');
});

test('any shut group shuts a threshold, and the groups are listed', () => {
  const runs = [
    ...runsOf('passed', 'passed'),
    aRun({ outcome: 'failed', scenario: 'b' }, 0),
    aRun({ outcome: 'broken', scenario: 'c' }, 0),
  ];
  const result = evaluate('pass_rate >= 0.5 for each scenario', runs);
  assert.equal(result.verdict, 'shut');
  assert.equal(result.reason, 'of 3 by scenario: 1 shut (b 0), 1 undecided (c), 1 open');
  assert.deepEqual(
    result.groups?.map(({ group, verdict }) => [group, verdict]),
    [
      ['s', 'open'],
      ['b', 'shut'],
      ['c', 'undecided'],
    ],
  );
});

test('groups by target and by tag hold the runs of each', () => {
  const runs = [
    aRun({ outcome: 'passed', variant: 'new', tags: ['x', 'y'] }, 0),
    aRun({ outcome: 'failed', variant: 'old', tags: ['y'] }, 0),
  ];
  const values = (text: string) => evaluate(text, runs).groups?.map(({ group, value }) => [group, value]);
  assert.deepEqual(values('pass_rate >= 0 for each target'), [
    ['new', 1],
    ['old', 0],
  ]);
  assert.deepEqual(values('pass_rate >= 0 for each tag'), [
    ['x', 1],
    ['y', 0.5],
  ]);
  assert.equal(evaluate('pass_rate >= 1 where tag x', runs).verdict, 'open');
});

test('with a confidence the lower bound opens, the upper bound shuts, and between them nothing is decided', () => {
  const runs = (passed: number) =>
    Array.from({ length: 40 }, (_, index) =>
      aRun({ outcome: index < passed ? 'passed' : 'failed', scenario: `s${index}` }, 0),
    );
  assert.equal(evaluate('pass_rate >= 0.8 with confidence 0.95', runs(38)).verdict, 'open');
  assert.equal(evaluate('pass_rate >= 0.8 with confidence 0.95', runs(34)).verdict, 'undecided');
  assert.equal(evaluate('pass_rate >= 0.8 with confidence 0.95', runs(25)).verdict, 'shut');
  assert.equal(evaluate('pass_rate <= 0.8 with confidence 0.95', runs(25)).verdict, 'open');
});

test('with a confidence missing runs count at their worst and best as well', () => {
  const outcomes: RunFacts['outcome'][] = [...new Array(38).fill('passed'), 'broken', 'broken'];
  const runs = outcomes.map((outcome, index) => aRun({ outcome, scenario: `s${index}` }, 0));
  assert.equal(evaluate('pass_rate >= 0.9 with confidence 0.95', runs).verdict, 'undecided');
  assert.equal(evaluate('pass_rate >= 0.8 with confidence 0.95', runs).verdict, 'open');
});

test('a few equal scores do not pass for certainty', () => {
  const runs = ['a', 'b', 'c'].map((scenario) =>
    aRun({ outcome: 'passed', scenario, checks: [checked('polite', 'pass', 5)] }, 0),
  );
  assert.equal(evaluate('mean(polite) >= 4 with confidence 0.95', runs).verdict, 'undecided');
});

const planned = (id: string): PlannedRun => ({ id, scenario: 's', repeat: 1, seed: 1, tags: [] });

test('of several generations of a run the highest counts', () => {
  const first = aRun({ outcome: 'broken' }, 0).result;
  assert.ok(first);
  const second = { ...first, outcome: 'passed', generation: 2 } as const;
  for (const results of [
    [first, second],
    [second, first],
  ]) {
    assert.equal(pairRuns([planned(first.run)], results)[0]?.result?.outcome, 'passed');
  }
});

function gateOf(texts: readonly (readonly [string, string?])[], runs: readonly PlayedRun[]) {
  const thresholds = texts.flatMap(([text, scenario]) => {
    const parsed = parseThreshold(text, { checks: [] });
    return parsed.kind === 'threshold'
      ? [{ ...parsed.threshold, ...(scenario === undefined ? {} : { scenario }) }]
      : [];
  });
  return decideGate(evaluateThresholds(thresholds, runs, { checks, allowMissing: 0.01 }), noOutcomes);
}

test('a gate is shut by any shut threshold, else undecided by any undecided one, else open', () => {
  const runs = runsOf('passed', 'passed', 'failed', 'broken');
  const [open, undecided, shut] = [['pass_rate >= 0.5'], ['pass_rate >= 0.6'], ['pass_rate >= 0.9']] as const;
  assert.equal(gateOf([open, undecided, shut], runs).verdict, 'shut');
  assert.equal(gateOf([open, undecided], runs).verdict, 'undecided');
  assert.equal(gateOf([open], runs).verdict, 'open');
  assert.equal(gateOf([open, shut], runs).reason, 'not met: pass_rate >= 0.9');
});

test("an item's own threshold looks at the item alone", () => {
  const runs = [...runsOf('passed'), aRun({ outcome: 'failed', scenario: 'b' }, 0)];
  assert.equal(gateOf([['pass_rate >= 1', 's']], runs).verdict, 'open');
  assert.equal(gateOf([['pass_rate >= 1', 'b']], runs).verdict, 'shut');
});

test("an item's own shut threshold does not count where an open group holds the item", () => {
  const runs = [
    aRun({ outcome: 'passed', tags: ['refund'] }, 0),
    aRun({ outcome: 'failed', scenario: 'b', tags: ['refund'] }, 0),
    aRun({ outcome: 'failed', scenario: 'c' }, 0),
  ];
  assert.equal(
    gateOf([['pass_rate >= 1', 'b'], ['pass_rate >= 0.5 where tag refund']], runs).verdict,
    'open',
  );
  assert.equal(
    gateOf([['pass_rate >= 1', 'b'], ['pass_rate >= 0.9 where tag refund']], runs).verdict,
    'shut',
  );
  assert.equal(
    gateOf([['pass_rate >= 1', 'c'], ['pass_rate >= 0.5 where tag refund']], runs).verdict,
    'shut',
  );
});

const countsTable: readonly (readonly [Partial<OutcomeCounts>, GateVerdict])[] = [
  [{ passed: 3 }, 'open'],
  [{ passed: 3, skipped: 1 }, 'open'],
  [{ passed: 3, failed: 1, broken: 1 }, 'shut'],
  [{ passed: 3, broken: 1 }, 'undecided'],
  [{ passed: 3, cancelled: 1 }, 'undecided'],
  [{ passed: 3, unplayed: 1 }, 'undecided'],
  [{ passed: 3, undecided: 1 }, 'undecided'],
  [{ skipped: 4 }, 'undecided'],
  [{}, 'open'],
];

for (const [counts, verdict] of countsTable) {
  test(`without thresholds the gate of ${JSON.stringify(counts)} is ${verdict}`, () => {
    assert.equal(decideGate([], { ...noOutcomes, ...counts }).verdict, verdict);
  });
}
