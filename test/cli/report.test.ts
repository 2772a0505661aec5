import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { exitCodes } from '../../cli/exit-codes.ts';
import { gateExit } from '../../cli/gate-exit.ts';
import type { Threshold } from '../../domain/threshold.ts';
import { aFolder, aStoredSweep, sweepId } from './stored-sweep.ts';

const halfPass: Threshold = {
  text: 'pass_rate >= 0.5',
  metric: { kind: 'pass_rate', subject: { kind: 'outcome' } },
  comparison: '>=',
  value: 0.5,
};

type Here = Awaited<ReturnType<typeof aFolder>>;

describe('report', () => {
  let here: Here;
  before(async () => {
    here = await aFolder();
    const played = await aStoredSweep(here.folder);
    await played.play(0, 'It is refunded.');
    await played.play(1, 'No.');
  });
  after(() => here.remove());

  it('tells the gate first and where to look, and exits with the gate', async () => {
    const { exitCode, out, err } = await here.regatta(['report', sweepId]);
    assert.equal(exitCode, exitCodes.gateShut);
    assert.equal(err, '');
    assert.equal(
      out,
      `Gate SHUT: without thresholds every run must pass: 1 failed
${sweepId}: 2 runs, 2.0 s
1 passed, 1 failed; pass rate 50 % (95 %: 0.3 to 99.7 %)

Scenarios to look at: 1 of 2
         passed  first cause
  angry     0/1  refunded: no reply contains "refunded"
  regatta show ${sweepId}/angry/1

Checks
            passed  rate           95 %  mean  missing
  refunded     1/2  50 %  0.3 to 99.7 %   0.5        0

Cost and time
  $0.004; tokens: 80 in, 20 out
  4 calls: 0 wasted, 0 probes besides
  driver $0.002 in 2, target $0.002 in 2
  Replies: p50 800 ms, p90 800 ms, p95 800 ms, p99 800 ms, max 800 ms
`,
    );
  });

  it('prints one object with --json - and nothing else', async () => {
    const { exitCode, out } = await here.regatta(['report', sweepId, '--json', '-']);
    const report = JSON.parse(out);
    assert.equal(exitCode, exitCodes.gateShut);
    assert.deepEqual([report.schema, report.sweep, report.gate], [1, sweepId, 'shut']);
    assert.deepEqual(report.runs, {
      ...{ planned: 2, passed: 1, failed: 1, undecided: 0, broken: 0, cancelled: 0, skipped: 0, unplayed: 0 },
    });
    const { by_role: _roles, ...usage } = report.usage;
    assert.deepEqual(usage, {
      ...{
        calls: 4,
        wasted_calls: 0,
        input_tokens: 80,
        output_tokens: 20,
        cost_usd: 0.004,
        estimated: false,
      },
      probe_calls: 0,
    });
    assert.deepEqual([report.thresholds, report.faults, report.retries], [[], {}, {}]);
  });

  it('takes --json without a file, and REGATTA_JSON=1, for stdout', async () => {
    const { out } = await here.regatta(['report', sweepId, '--json']);
    assert.equal(JSON.parse(out).sweep, sweepId);
    assert.equal((await here.regatta(['report', sweepId], { REGATTA_JSON: '1' })).out, out);
    assert.match((await here.regatta(['report', sweepId], { REGATTA_JSON: '0' })).out, /^Gate SHUT/);
  });

  it('writes every file that it is asked for', async () => {
    const files = ['--json', 'r.json', '--junit', 'r.xml', '--markdown', 'r.md', '--csv', 'r.csv'];
    const summary = join(here.folder, 'summary.md');
    const args = ['report', sweepId, ...files, '--github-summary'];
    await here.regatta(args, { GITHUB_STEP_SUMMARY: summary });
    const read = (name: string) => readFile(join(here.folder, name), 'utf8');
    assert.equal(JSON.parse(await read('r.json')).gate, 'shut');
    assert.match(await read('r.xml'), /<failure message="check refunded: no reply contains/);
    assert.match(await read('r.md'), /^# desk: gate shut\n/);
    assert.equal((await read('r.csv')).split('\r\n').length, 4);
    assert.equal(await read('summary.md'), await read('r.md'));
  });

  it('names a file that it cannot write, after it has written the others', async () => {
    await mkdir(join(here.folder, 'taken'));
    const args = ['report', sweepId, '--junit', 'taken', '--csv', 'others.csv'];
    const { exitCode, err } = await here.regatta(args);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, /^cannot write taken: EISDIR/);
    assert.match(await readFile(join(here.folder, 'others.csv'), 'utf8'), /^run,scenario/);
  });

  it('names at once all that keeps reports from being written', async () => {
    const args = ['report', sweepId, '--json', '-', '--csv', '-', '--junit', 'no/r.xml', '--github-summary'];
    const { exitCode, err } = await here.regatta(args);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(
      err,
      /^--json and --csv cannot both go to stdout .*\n--junit no\/r\.xml: there is no folder .*\n--github-summary/,
    );
  });

  it('names the closest sweep for an unknown one', async () => {
    const { exitCode, err } = await here.regatta(['report', `${sweepId.slice(0, -1)}e`]);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, new RegExp(`there is no sweep .* \\(did you mean "${sweepId}"\\?\\)`));
  });
});

it('a halted sweep exits 6, keeps its probes, and says how to go on', async () => {
  const here = await aFolder();
  const { store, play } = await aStoredSweep(here.folder, { thresholds: [halfPass] });
  await play(0, 'It is refunded.');
  const halted = { reason: 'budget', detail: 'the budget of $1 leaves no room for another run' };
  await store.putReport(sweepId, { halted, cancelled: false, usage: { probe_calls: 3 } });
  const { exitCode, out } = await here.regatta(['report', sweepId]);
  assert.equal(exitCode, exitCodes.halted);
  assert.match(out, /^Gate OPEN: every threshold is met\n/);
  assert.match(out, /\nHalted \(budget\): the budget of \$1 leaves no room for another run\n/);
  assert.match(out, /, 3 probes besides\n/);
  assert.match(out, /\nTo go on: regatta resume desk-\S+ --budget USD\n$/);
  await here.remove();
});

it('the exit code is that of the gate, unless the sweep was halted', () => {
  const halted = { reason: 'budget', detail: '' };
  assert.deepEqual(
    (['open', 'shut', 'undecided'] as const).map((gate) => [
      gateExit({ gate, halted: null }),
      gateExit({ gate, halted }),
    ]),
    [
      [0, 6],
      [3, 6],
      [4, 6],
    ],
  );
});
