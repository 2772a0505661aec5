import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextCommand } from '../../../cli/render/next-command.ts';
import { summary } from '../../../cli/render/summary.ts';
import { widthOf } from '../../../cli/render/text.ts';
import { noOutcomes } from '../../../domain/outcome.ts';
import { buildReport, type ReportInput } from '../../../domain/report.ts';
import type { PlayedRun } from '../../../domain/sample.ts';
import type { Threshold } from '../../../domain/threshold.ts';
import { noRoleUsage, noUsage } from '../../../domain/usage.ts';
import { aRun, type RunFacts } from '../../domain/a-run.ts';
import { refunded } from '../stored-sweep.ts';

const plain = { columns: 80, hasColour: false };

function shown(runs: readonly PlayedRun[], facts: Partial<ReportInput> = {}, place = plain): string {
  const report = buildReport({
    sweep: 'desk-1',
    name: 'desk',
    planned: runs.map(({ plan }) => plan),
    results: runs.flatMap(({ result }) => result ?? []),
    thresholds: [],
    checks: [refunded],
    allowMissing: 0.01,
    probeCalls: 3,
    cancelled: false,
    ...facts,
  });
  return summary(report, place, runs);
}

function checked(scenario: string, verdict: 'pass' | 'fail', repeat: number): PlayedRun {
  const reason =
    verdict === 'pass' ? '' : 'none of "refunded", "money back" was said in any reply of the target';
  const score = verdict === 'pass' ? 1 : 0;
  return played({
    outcome: verdict === 'pass' ? 'passed' : 'failed',
    scenario,
    repeat,
    checks: [
      {
        ...{ check: 'refunded', required: true, verdict, score, reason },
        ...(verdict === 'fail' ? { failedTurn: 3 } : {}),
      },
    ],
  });
}

function broken(scenario: string, repeat: number, endpoint: string): PlayedRun {
  const fault = { code: 'unavailable', message: 'connect ECONNREFUSED', endpoint } as const;
  return played({ outcome: 'broken', scenario, repeat, fault });
}

function played(facts: RunFacts): PlayedRun {
  const driver = { ...noRoleUsage, calls: 5, inputTokens: 2_000, outputTokens: 300, costUsd: 0.0012 };
  return aRun({ usage: { ...noUsage, driver }, startedAt: 1_000, endedAt: 66_000, ...facts });
}

const passRate: Threshold = {
  text: 'pass_rate >= 0.9',
  metric: { kind: 'pass_rate', subject: { kind: 'outcome' } },
  comparison: '>=',
  value: 0.9,
};

describe('the report on a terminal', () => {
  it('begins with the gate and shows what is to be done, at 80 columns', () => {
    const runs = [
      ...[1, 2].map((repeat) => checked('calm', 'pass', repeat)),
      checked('angry', 'fail', 1),
      checked('angry', 'pass', 2),
      broken('lost', 1, 'http://desk:8000/chat'),
      broken('lost', 2, 'http://desk:8000/chat'),
    ];
    const text = shown(runs, { thresholds: [passRate] });
    assert.equal(
      text,
      `Gate SHUT: not met: pass_rate >= 0.9
desk-1: 6 runs, 1 min 5 s
3 passed, 1 failed, 2 broken; pass rate 75 % (95 %: 1 to 99.9 %)

Thresholds
  shut  pass_rate >= 0.9  0.75 does not meet >= 0.9 (2 runs are missing: 0.5 at
                          worst, 0.8333 at best) [0.01027, 0.9988]

Scenarios to look at: 2 of 3
         passed  first cause
  angry     1/2  turn 3, refunded: none of "refunded", "money back" was said in
                 any reply of the target
  lost      0/2  broken, unavailable: connect ECONNREFUSED
  regatta show sweep/angry/1

Broken runs: 2
  2  unavailable  http://desk:8000/chat  connect ECONNREFUSED

Flaky scenarios (some runs passed, others failed): 1
  angry 1/2

Checks
            passed  rate         95 %  mean  missing
  refunded     3/4  75 %  1 to 99.9 %  0.75        2

Cost and time
  $0.0072; tokens: 12k in, 1.8k out
  30 calls: 0 wasted, 3 probes besides
  driver $0.0072 in 30
  Replies: p50 1.0 s, p90 2.0 s, p95 2.0 s, p99 2.0 s, max 2.0 s

To go on: regatta retry desk-1
`,
    );
  });

  it('stays short for a thousand scenarios, and names the command that shows the rest', () => {
    const runs = Array.from({ length: 1_000 }, (_, index) => checked(`scenario-${index}`, 'fail', 1));
    const lines = shown(runs).split('\n');
    assert.ok(lines.length < 60, `${lines.length} lines`);
    assert.ok(lines.includes('  and 988 more: regatta report desk-1 --markdown -'));
  });

  it('keeps scenarios apart whose long ids differ at their ends', () => {
    const runs = [1, 2].map((index) => checked(`${'a-very-long-scenario-id-'.repeat(3)}${index}`, 'fail', 1));
    const rows = shown(runs)
      .split('\n')
      .filter((line) => line.includes('0/1'));
    assert.equal(new Set(rows.map((row) => row.slice(0, 30))).size, 2);
  });

  it('tells faults apart by their endpoint, the commonest first', () => {
    const runs = [broken('a', 1, 'http://b/'), broken('b', 1, 'http://a/'), broken('c', 1, 'http://a/')];
    assert.match(
      shown(runs),
      /\n {2}2 {2}unavailable {2}http:\/\/a\/ .*\n {2}1 {2}unavailable {2}http:\/\/b\//,
    );
  });

  it('counts resumed, resent and restarted runs', () => {
    const runs = [played({ outcome: 'passed', resumptions: 3, resent: 2, restarted: 1 })];
    assert.match(shown(runs), /\n {2}Disturbances: 3 resumed, 2 resent, 1 restarted\n/);
    assert.doesNotMatch(shown([played({ outcome: 'passed' })]), /Disturbances/);
  });

  it('has no line wider than the terminal but commands, whatever a reason holds', () => {
    const reason = '日本語の理由 '.repeat(40);
    const checks = [{ check: 'refunded', required: true, verdict: 'fail', score: 0, reason } as const];
    const runs = [played({ outcome: 'failed', scenario: '長い名前'.repeat(20), checks })];
    for (const columns of [60, 80, 120]) {
      const text = shown(runs, { thresholds: [passRate] }, { ...plain, columns });
      assert.deepEqual(
        text.split('\n').filter((line) => widthOf(line) > columns && !line.startsWith('  regatta show ')),
        [],
      );
    }
  });

  it('has colours only where they may be used', () => {
    const runs = [checked('angry', 'fail', 1)];
    assert.ok(!shown(runs).includes('\u001B'));
    assert.ok(shown(runs, {}, { ...plain, hasColour: true }).includes('Gate \u001B[31mSHUT\u001B[39m'));
  });

  it('says that nothing was played', () => {
    const text = shown([aRun({ outcome: 'absent' })]);
    assert.match(text, /\n1 unplayed; pass rate -\n/);
    assert.match(text, /To go on: regatta resume desk-1\n$/);
  });
});

describe('the command that goes on', () => {
  const next = (counts: object, halted: { reason: string; detail: string } | null = null) =>
    nextCommand({ sweep: 's', halted, runs: { ...noOutcomes, planned: 9, ...counts } });

  it('fits what was left undone', () => {
    assert.equal(next({ passed: 9 }), undefined);
    assert.equal(next({ unplayed: 1 }), 'regatta resume s');
    assert.equal(next({ unplayed: 1, broken: 1 }), 'regatta retry s');
    assert.equal(next({ undecided: 1 }), 'regatta rejudge s');
    assert.equal(next({ unplayed: 1 }, { reason: 'budget', detail: '' }), 'regatta resume s --budget USD');
  });
});
