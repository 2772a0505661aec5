import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult, CheckSpec } from '../../domain/check.ts';
import { buildReport, type ReportInput, slimResult } from '../../domain/report.ts';
import type { PlayedRun } from '../../domain/sample.ts';
import { failureOf } from '../../domain/scenario-row.ts';
import { noRoleUsage, noUsage } from '../../domain/usage.ts';
import { parseThreshold } from '../../formats/threshold-grammar.ts';
import { aRun } from './a-run.ts';

function checked(
  check: string,
  verdict: CheckResult['verdict'],
  facts: Partial<CheckResult> = {},
): CheckResult {
  return { check, verdict, required: true, reason: `${check} ${verdict}`, ...facts };
}

const refunded = {
  name: 'refunded',
  kind: 'contains_any',
  texts: ['refunded'],
  caseSensitive: false,
  sees: 'replies',
  at: 'end',
  rollup: 'any',
  required: true,
  not: false,
} as const satisfies CheckSpec;

function reportOf(runs: readonly PlayedRun[], facts: Partial<ReportInput> = {}) {
  return buildReport({
    sweep: 'desk-1',
    name: 'desk',
    planned: runs.map(({ plan }) => plan),
    results: runs.flatMap(({ result }) => result ?? []),
    thresholds: [],
    checks: [],
    allowMissing: 0.01,
    probeCalls: 0,
    cancelled: false,
    ...facts,
  });
}

const everyOutcome = [
  'passed',
  'failed',
  'undecided',
  'broken',
  'cancelled',
  'skipped',
  'unplayed',
  'absent',
] as const;

test('outcomes sum to the planned runs, and a run without a result is unplayed', () => {
  const { runs } = reportOf(everyOutcome.map((outcome, index) => aRun({ outcome }, index)));
  const { planned, ...counts } = runs;
  assert.equal(planned, 8);
  assert.equal(runs.unplayed, 2);
  assert.equal(
    Object.values(counts).reduce((sum, count) => sum + count, 0),
    8,
  );
});

test('results of runs that were not planned do not count', () => {
  const [planned, foreign] = [aRun({ outcome: 'passed' }, 0), aRun({ outcome: 'failed' }, 1)];
  const results = [planned, foreign].flatMap(({ result }) => result ?? []);
  assert.equal(reportOf([planned], { results }).runs.failed, 0);
});

test('usage is summed by role, with probes apart', () => {
  const role = { ...noRoleUsage, calls: 2, wastedCalls: 1, inputTokens: 10, outputTokens: 5, costUsd: 0.1 };
  const usage = { ...noUsage, target: role, judge: { ...role, estimated: true } };
  const report = reportOf([aRun({ outcome: 'passed', usage }, 0), aRun({ outcome: 'broken', usage }, 1)], {
    probeCalls: 3,
  });
  const { by_role: byRole, ...total } = report.usage;
  assert.deepEqual(total, {
    calls: 8,
    wasted_calls: 4,
    input_tokens: 40,
    output_tokens: 20,
    cost_usd: 0.4,
    estimated: true,
    probe_calls: 3,
  });
  assert.deepEqual(byRole.target, {
    calls: 4,
    wasted_calls: 2,
    input_tokens: 20,
    output_tokens: 10,
    cost_usd: 0.2,
    estimated: false,
  });
});

test('faults count the runs that they ended and the checks that they left undecided', () => {
  const ending = { kind: 'target_error', code: 'timed_out', detail: 'no reply' } as const;
  const { faults, retries } = reportOf([
    aRun(
      { outcome: 'broken', fault: { code: 'unavailable', message: 'refused' }, retries: { unavailable: 7 } },
      0,
    ),
    aRun({ outcome: 'failed', ending, retries: { timed_out: 2, unavailable: 1 } }, 1),
    aRun({ outcome: 'undecided', checks: [checked('polite', 'undecided', { faultCode: 'bad_reply' })] }, 2),
  ]);
  assert.deepEqual(faults, { unavailable: 1, timed_out: 1, bad_reply: 1 });
  assert.deepEqual(retries, { unavailable: 8, timed_out: 2 });
});

test('a check is reported with its rate, its interval and what is missing', () => {
  const runs = (['pass', 'pass', 'fail', 'undecided'] as const).map((verdict, index) =>
    aRun(
      {
        outcome: 'passed',
        checks: [
          checked('refunded', verdict, verdict === 'undecided' ? {} : { score: verdict === 'pass' ? 1 : 0 }),
        ],
      },
      index,
    ),
  );
  const [check] = reportOf(runs, { checks: [refunded] }).checks;
  const { pass_rate: rate, ...counts } = check ?? { pass_rate: undefined };
  assert.deepEqual(counts, {
    check: 'refunded',
    required: true,
    passed: 2,
    failed: 1,
    missing: 1,
    mean_score: 2 / 3,
  });
  assert.equal(rate?.value, 2 / 3);
  assert.deepEqual(
    rate?.interval?.map((bound) => Math.round(bound * 1000)),
    [208, 939],
  );
});

test('a scenario of which identical runs passed and failed is flaky, and names its first failing turn and check', () => {
  const checks = [
    checked('refunded', 'fail'),
    checked('polite', 'fail', { failedTurn: 3 }),
    checked('brief', 'fail', { failedTurn: 2 }),
  ];
  const { scenarios, flaky_scenarios: flaky } = reportOf([
    aRun({ outcome: 'passed' }, 0),
    aRun({ outcome: 'broken' }, 1),
    aRun({ outcome: 'failed', checks }, 2),
  ]);
  assert.equal(flaky, 1);
  assert.deepEqual(scenarios[0]?.failure, {
    run: 'sweep/s/3',
    outcome: 'failed',
    check: 'brief',
    turn: 2,
    reason: 'brief fail',
  });
});

test('a soft check is never the reason of a failure', () => {
  const checks = [checked('tone', 'fail', { required: false, failedTurn: 1 }), checked('refunded', 'fail')];
  assert.equal(failureOf(aRun({ outcome: 'failed', checks }))?.check, 'refunded');
});

test('the share of faithful runs is that of the runs that the judge decided', () => {
  const verdicts = ['pass', 'fail', 'pass', 'undecided', 'pass'] as const;
  const { scenarios } = reportOf(
    verdicts.map((verdict, index) => aRun({ outcome: 'passed', faithful: { verdict, reason: '' } }, index)),
  );
  assert.equal(scenarios[0]?.faithful, 0.75);
});

test('latency pools the replies of the runs that were decided', () => {
  const { reply_seconds: latency } = reportOf([
    aRun({ outcome: 'passed', replySeconds: [1, 3] }, 0),
    aRun({ outcome: 'failed', replySeconds: [2] }, 1),
    aRun({ outcome: 'broken', replySeconds: [100] }, 2),
  ]);
  assert.deepEqual(latency, { replies: 3, p50: 2, p90: 3, p95: 3, p99: 3, max: 3 });
});

test('a halted sweep says why, and its gate is undecided by the unplayed runs', () => {
  const halted = { reason: 'budget', detail: '20 USD are spent' };
  const report = reportOf([aRun({ outcome: 'passed' }, 0), aRun({ outcome: 'absent' }, 1)], { halted });
  assert.deepEqual(report.halted, halted);
  assert.equal(report.gate, 'undecided');
});

test('thresholds are reported with value, interval and groups', () => {
  const parsed = parseThreshold('pass_rate >= 0.5 for each scenario', { checks: [] });
  const thresholds = parsed.kind === 'threshold' ? [parsed.threshold] : [];
  const runs = [aRun({ outcome: 'passed' }, 0), aRun({ outcome: 'failed', scenario: 'b' }, 0)];
  const { gate, thresholds: reported } = reportOf(runs, { thresholds });
  assert.equal(gate, 'shut');
  assert.deepEqual([reported[0]?.value, reported[0]?.interval], [null, null]);
  assert.deepEqual(
    reported[0]?.groups?.map(({ group, verdict, value }) => ({ group, verdict, value })),
    [
      { group: 's', verdict: 'open', value: 1 },
      { group: 'b', verdict: 'shut', value: 0 },
    ],
  );
});

test('slim results make the same report', () => {
  const checks = [
    checked('refunded', 'fail', { turns: [{ turn: 1, verdict: 'fail', reason: 'no' }] }),
    checked('polite', 'pass'),
  ];
  const runs = [aRun({ outcome: 'failed', checks }, 0)];
  const results = runs.flatMap(({ result }) => (result === undefined ? [] : [slimResult(result)]));
  assert.equal(results[0]?.checks[0]?.turns, undefined);
  assert.equal(results[0]?.checks[1]?.reason, '');
  assert.deepEqual(reportOf(runs, { results, checks: [refunded] }), reportOf(runs, { checks: [refunded] }));
});
