import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult } from '../../domain/check.ts';
import { buildReport, type ReportInput } from '../../domain/report.ts';
import type { PlayedRun } from '../../domain/sample.ts';
import { csvLines } from '../../formats/report-csv.ts';
import { formatReportJson } from '../../formats/report-json.ts';
import { escapeXml, formatJunit } from '../../formats/report-junit.ts';
import { formatMarkdown } from '../../formats/report-markdown.ts';
import { parseThreshold } from '../../formats/threshold-grammar.ts';
import { aRun } from '../domain/a-run.ts';

function checked(
  check: string,
  verdict: CheckResult['verdict'],
  facts: Partial<CheckResult> = {},
): CheckResult {
  return { check, verdict, required: true, reason: 'said "no" | <never>', ...facts };
}

function reportOf(runs: readonly PlayedRun[], facts: Partial<ReportInput> = {}) {
  return buildReport({
    sweep: 'desk-1',
    name: 'desk',
    planned: runs.map(({ plan }) => plan),
    results: runs.flatMap(({ result }) => result ?? []),
    thresholds: [],
    checks: [],
    allowMissing: 0.01,
    probeCalls: 1,
    cancelled: false,
    ...facts,
  });
}

function thresholdOf(text: string, scenario?: string) {
  const parsed = parseThreshold(text, { checks: [] });
  assert.equal(parsed.kind, 'threshold');
  return parsed.kind === 'threshold'
    ? [{ ...parsed.threshold, ...(scenario === undefined ? {} : { scenario }) }]
    : [];
}

const failing = aRun(
  { outcome: 'failed', scenario: 'a', checks: [checked('polite', 'fail', { failedTurn: 2, score: 1 })] },
  0,
);

const mixed: readonly PlayedRun[] = [
  failing,
  aRun({ outcome: 'passed', scenario: 'a', checks: [checked('polite', 'pass', { score: 5 })] }, 1),
  aRun({ outcome: 'broken', scenario: 'b', fault: { code: 'unavailable', message: 'refused' } }, 0),
  aRun(
    { outcome: 'undecided', scenario: 'c', checks: [checked('polite', 'undecided', { reason: 'tie' })] },
    0,
  ),
  aRun({ outcome: 'skipped', scenario: 'd' }, 0),
  aRun({ outcome: 'passed', scenario: 'e', variant: 'new' }, 0),
  aRun({ outcome: 'absent', scenario: 'f' }, 0),
];

test('the JSON of a report has the published keys', () => {
  const json = JSON.parse(formatReportJson(reportOf(mixed)));
  assert.equal(json.schema, 1);
  assert.equal(json.sweep, 'desk-1');
  assert.equal(json.gate, 'shut');
  assert.deepEqual(json.runs, {
    planned: 7,
    passed: 2,
    failed: 1,
    undecided: 1,
    broken: 1,
    cancelled: 0,
    skipped: 1,
    unplayed: 1,
  });
  assert.equal(json.usage.probe_calls, 1);
  assert.deepEqual(json.faults, { unavailable: 1 });
});

test('the JSON does not depend on the order in which codes were met', () => {
  const runs = (codes: readonly ('timed_out' | 'unavailable')[]) =>
    codes.map((code, index) => aRun({ outcome: 'broken', fault: { code, message: '' } }, index));
  const [first, second] = [runs(['unavailable', 'timed_out']), runs(['timed_out', 'unavailable'])].map(
    (some) => JSON.stringify(JSON.parse(formatReportJson(reportOf(some))).faults),
  );
  assert.equal(first, second);
});

test('JUnit has one case a scenario, its repeats as properties, and names the first failing turn and check', () => {
  const xml = formatJunit(reportOf(mixed), mixed);
  const suite = '<testsuite name="desk" tests="6" failures="1" errors="3" skipped="1" time="18.000">';
  assert.ok(xml.includes(suite), xml);
  const expected = `<testcase classname="desk" name="a" time="6.000">
<properties>
<property name="repeat 1" value="failed: turn 2, check polite: said &quot;no&quot; | &lt;never&gt;"/>
<property name="repeat 2" value="passed"/>
</properties>
<failure message="turn 2, check polite: said &quot;no&quot; | &lt;never&gt;" type="polite">
repeat 1 failed: turn 2, check polite: said &quot;no&quot; | &lt;never&gt;
</failure>
</testcase>`;
  assert.ok(xml.includes(expected), xml);
});

const junitTable: readonly (readonly [string, string])[] = [
  ['a broken scenario', '<error message="unavailable: refused" type="unavailable">'],
  ['an undecided scenario', '<error message="check polite: tie" type="undecided">'],
  ['an unplayed scenario', '<error message="never opened" type="unplayed">'],
  ['a skipped scenario', '<skipped/>'],
  ['a scenario of a variant', 'name="e@new"'],
];

for (const [title, xml] of junitTable) {
  test(`in JUnit ${title} is ${xml}`, () => {
    assert.ok(formatJunit(reportOf(mixed), mixed).includes(xml));
  });
}

test('in JUnit a scenario that meets its own threshold has passed', () => {
  const runs = mixed.slice(0, 2);
  const report = reportOf(runs, { thresholds: thresholdOf('pass_rate >= 0.5', 'a') });
  assert.ok(!formatJunit(report, runs).includes('<failure'));
});

test('what XML cannot hold is replaced, the rest is escaped', () => {
  assert.equal(
    escapeXml('<a b="c">&\'\u0000\u001b\ud800\ufffe😀\n\t'),
    '&lt;a b=&quot;c&quot;&gt;&amp;&apos;����😀&#10;&#9;',
  );
});

test('the Markdown begins with the gate and shows failing scenarios before broken ones', () => {
  const report = reportOf(mixed, { thresholds: thresholdOf('pass_rate >= 0.9') });
  assert.equal(
    formatMarkdown(report),
    `# desk: gate shut

not met: pass\\_rate \\>= 0.9. Sweep \`desk-1\`: 7 runs planned, 2 passed, 1 failed, 1 undecided, 1 broken, 1 skipped, 1 unplayed; pass rate 66.67 % (0.8125 to 99.8).

## Thresholds

| verdict | threshold | measured |
| --- | --- | --- |
| shut | \`pass_rate >= 0.9\` | 0.6667 does not meet \\>= 0.9 (3 runs are missing: 0.3333 at worst, 0.8333 at best) |

## Scenarios to look at

| scenario | passed | else | first failure |
| --- | --- | --- | --- |
| \`a\` (flaky) | 1 of 2 | 1 failed | turn 2, \`polite\`: said "no" \\| \\<never\\> |
| \`b\` | 0 of 1 | 1 broken | unavailable: refused |
| \`c\` | 0 of 1 | 1 undecided | \`polite\`: tie |
| \`f\` | 0 of 1 | 1 unplayed | never opened |

## Faults

| code | runs or checks | calls tried again |
| --- | --- | --- |
| \`unavailable\` | 1 | 0 |

## Cost

$0.00, 0 calls, 0 tokens in, 0 out. Replies: 1 s at p50, 2 s at p95.
`,
  );
});

test('the Markdown names nobody and breaks no table', () => {
  const fault = { code: 'unavailable', message: '@all\n| <b>' } as const;
  const runs = [aRun({ outcome: 'broken', scenario: 'a`|b', fault }, 0)];
  const line = formatMarkdown(reportOf(runs))
    .split('\n')
    .find((text) => text.includes('0 of 1'));
  assert.equal(line, '| `` a`\\|b `` | 0 of 1 | 1 broken | unavailable: @\u200Ball \\| \\<b\\> |');
});

test('the CSV has one row a planned run, and quotes what must be quoted', () => {
  const endings = { kind: 'target_error', code: 'timed_out', detail: '' } as const;
  const runs = [
    aRun(
      {
        outcome: 'failed',
        scenario: 'a "b",\nc',
        tags: ['x', 'y'],
        ending: endings,
        checks: [checked('polite', 'fail', { score: 1.5 })],
      },
      0,
    ),
    aRun({ outcome: 'absent' }, 0),
  ];
  const [head, first, second, ...rest] = [...csvLines(runs, ['polite'])];
  assert.equal(rest.length, 0);
  assert.ok(head?.startsWith('run,scenario,variant,repeat,tags,outcome,ending,ending_reason,'));
  assert.ok(head?.endsWith(',polite,polite.score\r\n'));
  assert.equal(
    first,
    '"sweep/a ""b"",\nc/1","a ""b"",\nc",,1,x y,failed,target_error,timed_out,,,1,2,0,2,3,0,0,0,0,0,false,0,0,0,0,,,1970-01-01T00:00:00.001Z,fail,1.5\r\n',
  );
  assert.equal(second, 'sweep/s/1,s,,1,,unplayed,,,,,,,,,,,,,,,,,,,,,,,,\r\n');
  assert.equal(second?.split(',').length, head?.split(',').length);
});
