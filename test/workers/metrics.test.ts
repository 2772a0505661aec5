import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { CallRecord } from '../../activities/ports.ts';
import { createFileStore } from '../../adapters/file-store/index.ts';
import type { RunResult } from '../../domain/run.ts';
import { emptyTally } from '../../domain/tally.ts';
import { noUsage } from '../../domain/usage.ts';
import {
  commonLabels,
  counters,
  gauges,
  type HistogramSpec,
  histograms,
  labelLimits,
  type MetricSpec,
} from '../../workers/metric-catalogue.ts';
import { createMetrics } from '../../workers/metrics.ts';
import type { QueueReading } from '../../workers/sweep-watch.ts';
import { type Family, readMetricText } from './metric-text.ts';

const hourMs = 3_600_000;

function someMetrics() {
  const clock = { at: 0 };
  const metrics = createMetrics({
    version: '1.2.3',
    node: 'v24.0.0',
    namespace: 'default',
    queue: 'regatta.desk',
    now: () => clock.at,
  });
  return { clock, ...metrics, read: async () => readMetricText(await metrics.text()) };
}

function aCall(given: Partial<CallRecord> = {}): CallRecord {
  return { role: 'target', model: 'small', code: 'ok', ms: 300, costUsd: 0.01, ...given };
}

function aRun(given: Partial<RunResult> = {}): RunResult {
  return {
    schema: 1,
    run: 'night/refund/1',
    scenario: 'refund',
    repeat: 1,
    generation: 1,
    tags: [],
    outcome: 'passed',
    ending: { kind: 'driver_done', reason: 'goal_met' },
    checks: [],
    turns: 5,
    toolCalls: 0,
    replySeconds: [],
    playMs: 2_000,
    usage: noUsage,
    retries: {},
    resumptions: 0,
    resent: 0,
    restarted: 0,
    markedMessages: 0,
    startedAt: 1_000,
    endedAt: 8_000,
    ...given,
  };
}

const aReading: QueueReading = {
  backlog: { workflow: 0, activity: 7 },
  sweeps: [
    {
      sweep: 'night',
      progress: {
        state: 'running',
        runs: 100,
        open: 20,
        window: 30,
        budgetUsd: 5,
        tally: { ...emptyTally, outcomes: { passed: 40, broken: 1 }, usd: 1.5 },
        halt: { reason: 'budget', detail: 'used up' },
        startedAt: 1_000_000,
      },
    },
  ],
};

/** Everything that can be counted, once. */
async function countAll(metrics: ReturnType<typeof someMetrics>): Promise<void> {
  const { meter, meterStore, onPaceWait, onLease, watchEndpoints, showSweeps } = metrics;
  const usage = { inputTokens: 100, outputTokens: 20, estimated: false };
  meter.call(aCall({ usage }));
  meter.call(aCall({ code: 'rate_limited', costUsd: 0 }));
  meter.turn('night');
  meter.runOpened();
  const check = { check: 'polite', required: true, verdict: 'pass', reason: '' } as const;
  meter.runEnded('night', aRun({ checks: [check] }));
  const fault = { code: 'timed_out', message: 'no answer' } as const;
  meter.runEnded('night', aRun({ outcome: 'broken', blame: 'infrastructure', fault }));
  onPaceWait({ model: 'small', ms: 40 });
  onLease({ model: 'small', result: 'granted', ms: 20 });
  watchEndpoints(() => [{ model: 'small', inFlight: 3, waiting: 2, limit: 32, isLeased: true }]);
  for (let model = 0; model < 60; model++) meter.call(aCall({ model: `model-${model}` }));
  showSweeps(aReading);
  const folder = await mkdtemp(join(tmpdir(), 'regatta-metrics-'));
  await meterStore(createFileStore(folder)).probe();
  await assert.rejects(meterStore(createFileStore(join(folder, 'no'))).readShard('night', 0));
  await rm(folder, { recursive: true });
}

function valueIn(families: ReadonlyMap<string, Family>, series: string): number | undefined {
  const [, name = '', labelText = ''] = /^([^{]*)(?:\{(.*)\})?$/.exec(series) ?? [];
  const wanted = [...labelText.matchAll(/(\w+)="([^"]*)"/g)];
  const family = families.get(name) ?? families.get(name.replace(/_(sum|count)$/, ''));
  return family?.samples.find(
    (sample) => sample.name === name && wanted.every(([, label = '', text]) => sample.labels[label] === text),
  )?.value;
}

const catalogue: readonly (readonly [string, string, MetricSpec & Partial<HistogramSpec>])[] = [
  ...Object.entries(counters).map(([name, spec]) => [name, 'counter', spec] as const),
  ...Object.entries(gauges).map(([name, spec]) => [name, 'gauge', spec] as const),
  ...Object.entries(histograms).map(([name, spec]) => [name, 'histogram', spec] as const),
];

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

describe('the page of metrics', () => {
  it('is strict text format, whatever was counted', async () => {
    const metrics = someMetrics();
    await metrics.read();
    await countAll(metrics);
    await metrics.read();
  });

  it("passes Prometheus' own linter", { skip: !hasPromtool && 'there is no promtool here' }, async () => {
    const metrics = someMetrics();
    await countAll(metrics);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await metrics.text(),
    });
    assert.deepEqual({ status, said: `${stdout}${stderr}` }, { status: 0, said: '' });
  });

  it('holds the metrics of the catalogue and no others of ours, with its kinds, helps and labels', async () => {
    const metrics = someMetrics();
    await countAll(metrics);
    const families = await metrics.read();
    const ours = [...families.values()].filter(({ name }) => name.startsWith('regatta_'));
    assert.deepEqual(
      ours.map(({ name, type, help }) => [name, type, help]).sort(),
      catalogue.map(([name, kind, { help }]) => [name, kind, help]).sort(),
    );
    for (const [name, , { labels }] of catalogue) {
      const sample = families.get(name)?.samples.at(-1);
      const shown = Object.keys(sample?.labels ?? {}).filter((label) => label !== 'le');
      assert.deepEqual(shown.sort(), [...labels, ...commonLabels].sort(), name);
    }
  });

  it('has at most thirteen buckets a histogram, in rising order', () => {
    for (const { buckets } of Object.values(histograms)) {
      assert.ok(buckets.length <= 13);
      assert.deepEqual(
        buckets,
        buckets.toSorted((a, b) => a - b),
      );
    }
  });

  it("shows the event loop's lag, and none of Node's gauges that are named like counters", async () => {
    const families = await someMetrics().read();
    assert.ok(families.has('nodejs_eventloop_lag_p99_seconds'));
    assert.deepEqual(
      [...families.keys()].filter((name) => /^nodejs_active_.*_total$/.test(name)),
      [],
    );
  });

  it('names the build', async () => {
    const families = await someMetrics().read();
    assert.equal(valueIn(families, 'regatta_build_info{version="1.2.3",node="v24.0.0"}'), 1);
  });

  it("names the queue as the server's own metrics do, so that both can be joined", async () => {
    const families = await someMetrics().read();
    assert.equal(
      valueIn(families, 'regatta_build_info{task_queue="regatta.desk",server_queue="regatta_desk"}'),
      1,
    );
  });

  it('is its own: two pages in one process do not mix', async () => {
    const [one, other] = [someMetrics(), someMetrics()];
    one.meter.turn('night');
    assert.equal(valueIn(await one.read(), 'regatta_turns_total'), 1);
    assert.equal(valueIn(await other.read(), 'regatta_turns_total'), undefined);
  });
});

describe('what a worker counts', () => {
  it('counts calls by role, model and code, and the tokens and money of answered ones', async () => {
    const { meter, read } = someMetrics();
    meter.call(aCall({ usage: { inputTokens: 100, outputTokens: 20, estimated: false }, costUsd: 0.25 }));
    meter.call(aCall({ code: 'rate_limited', costUsd: 0 }));
    const families = await read();
    const of = (series: string) => valueIn(families, series);
    assert.equal(of('regatta_calls_total{role="target",model="small",code="ok"}'), 1);
    assert.equal(of('regatta_calls_total{role="target",model="small",code="rate_limited"}'), 1);
    assert.equal(of('regatta_tokens_total{role="target",model="small",kind="input"}'), 100);
    assert.equal(of('regatta_tokens_total{role="target",model="small",kind="output"}'), 20);
    assert.equal(of('regatta_cost_usd_total{role="target",model="small"}'), 0.25);
  });

  it('measures only the time of answered calls, in seconds', async () => {
    const { meter, read } = someMetrics();
    meter.call(aCall({ ms: 1_500 }));
    meter.call(aCall({ code: 'timed_out', ms: 120_000 }));
    const families = await read();
    assert.equal(valueIn(families, 'regatta_call_duration_seconds_sum{role="target",model="small"}'), 1.5);
    assert.equal(valueIn(families, 'regatta_call_duration_seconds_count{role="target",model="small"}'), 1);
  });

  it('counts a run by sweep and outcome, its ending, its fault and its wall time', async () => {
    const { meter, read } = someMetrics();
    meter.runEnded('night', aRun());
    const fault = { code: 'unavailable', message: 'connection refused' } as const;
    const { ending: _, ...unfinished } = aRun({ outcome: 'broken', blame: 'driver', fault });
    meter.runEnded('night', unfinished);
    const families = await read();
    const of = (series: string) => valueIn(families, series);
    assert.equal(of('regatta_runs_total{sweep="night",outcome="passed"}'), 1);
    assert.equal(of('regatta_runs_total{sweep="night",outcome="broken"}'), 1);
    assert.equal(of('regatta_endings_total{sweep="night",ending="driver_done"}'), 1);
    assert.equal(of('regatta_faults_total{sweep="night",code="unavailable",blame="driver"}'), 1);
    assert.equal(of('regatta_run_duration_seconds_sum'), 14);
  });

  it('shows the runs that are open now', async () => {
    const { meter, read } = someMetrics();
    meter.runOpened();
    meter.runOpened();
    meter.runLeft();
    assert.equal(valueIn(await read(), 'regatta_runs_open'), 1);
  });

  it('shows what endpoints are doing when the page is read, summed where they share a name', async () => {
    const { watchEndpoints, read } = someMetrics();
    const reading = { model: 'small', inFlight: 3, waiting: 2, limit: 32, isLeased: true };
    let readings = [reading, { ...reading, inFlight: 1 }];
    watchEndpoints(() => readings);
    assert.equal(valueIn(await read(), 'regatta_calls_in_flight{model="small"}'), 4);
    readings = [{ ...reading, inFlight: 0 }];
    const families = await read();
    assert.equal(valueIn(families, 'regatta_calls_in_flight{model="small"}'), 0);
    assert.equal(valueIn(families, 'regatta_calls_waiting{model="small"}'), 2);
    assert.equal(valueIn(families, 'regatta_pace_limit{model="small"}'), 32);
    assert.equal(valueIn(families, 'regatta_pace_leases{model="small"}'), 1);
  });

  it('counts what became of asks for leases, and how long the answered ones took', async () => {
    const { onLease, read } = someMetrics();
    onLease({ model: 'small', result: 'granted', ms: 20 });
    onLease({ model: 'small', result: 'granted', ms: 30 });
    onLease({ model: 'small', result: 'failed' });
    const families = await read();
    assert.equal(valueIn(families, 'regatta_pace_leases_total{model="small",result="granted"}'), 2);
    assert.equal(valueIn(families, 'regatta_pace_leases_total{model="small",result="failed"}'), 1);
    assert.equal(valueIn(families, 'regatta_pace_lease_wait_seconds_sum{model="small"}'), 0.05);
  });

  it('shows that contact was lost, and that the worker drains', async () => {
    const { watchContact, drains, read } = someMetrics();
    watchContact(() => false);
    drains();
    const families = await read();
    assert.equal(valueIn(families, 'regatta_contact_lost'), 1);
    assert.equal(valueIn(families, 'regatta_draining'), 1);
  });
});

describe('what a worker tells of sweeps', () => {
  it('counts checks by name and verdict, and runs that did not pass by scenario', async () => {
    const { meter, read } = someMetrics();
    const check = { check: 'polite', required: true, verdict: 'fail', reason: 'rude' } as const;
    meter.runEnded('night', aRun({ outcome: 'failed', checks: [check] }));
    meter.runEnded('night', aRun());
    const families = await read();
    assert.equal(valueIn(families, 'regatta_checks_total{check="polite",verdict="fail"}'), 1);
    assert.deepEqual(
      families
        .get('regatta_scenario_runs_total')
        ?.samples.map(({ labels, value }) => [labels.outcome, value]),
      [['failed', 1]],
    );
  });

  it('shows the ten slowest scenarios of a sweep, each by its slowest run', async () => {
    const { meter, read } = someMetrics();
    for (const seconds of [3, 1, 2]) {
      for (let scenario = 1; scenario <= 12; scenario++) {
        meter.runEnded(
          'night',
          aRun({ scenario: `s${scenario}`, startedAt: 0, endedAt: scenario * seconds * 1_000 }),
        );
      }
    }
    const shown = (await read()).get('regatta_scenario_slowest_seconds')?.samples ?? [];
    assert.deepEqual(
      shown.map(({ labels, value }) => [labels.scenario, value]),
      [12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((scenario) => [`s${scenario}`, scenario * 3]),
    );
  });

  it('shows how sweeps stand, as it was told last, and nothing once others tell it', async () => {
    const { showSweeps, read } = someMetrics();
    showSweeps(aReading);
    const families = await read();
    const of = (series: string) => valueIn(families, series);
    assert.equal(of('regatta_sweep_planned_runs{sweep="night"}'), 100);
    assert.equal(of('regatta_sweep_runs{sweep="night",outcome="passed"}'), 40);
    assert.equal(of('regatta_sweep_runs{sweep="night",outcome="failed"}'), 0);
    assert.equal(of('regatta_sweep_open_runs{sweep="night"}'), 20);
    assert.equal(of('regatta_sweep_window{sweep="night"}'), 30);
    assert.equal(of('regatta_sweep_spent_usd{sweep="night"}'), 1.5);
    assert.equal(of('regatta_sweep_budget_usd{sweep="night"}'), 5);
    assert.equal(of('regatta_sweep_started_timestamp_seconds{sweep="night"}'), 1_000);
    assert.equal(of('regatta_sweep_state{sweep="night",state="running"}'), 1);
    assert.equal(of('regatta_sweep_halted{sweep="night",reason="budget"}'), 1);
    assert.equal(of('regatta_queue_backlog{task_type="activity"}'), 7);
    showSweeps(undefined);
    assert.equal(valueIn(await read(), 'regatta_sweep_planned_runs'), undefined);
  });

  it('tells at most twenty sweeps, and says that there are more', async () => {
    const { showSweeps, read } = someMetrics();
    const progress = aReading.sweeps[0]?.progress;
    assert.ok(progress !== undefined);
    const sweeps = Array.from({ length: labelLimits.sweep + 1 }, (_, index) => ({
      sweep: `s${index}`,
      progress,
    }));
    showSweeps({ ...aReading, sweeps });
    const families = await read();
    assert.equal(families.get('regatta_sweep_planned_runs')?.samples.length, labelLimits.sweep);
    assert.equal(valueIn(families, 'regatta_label_overflow_total{label="sweep"}'), 1);
  });
});

describe('the metrics of a store', () => {
  it('time what succeeded and count what failed, by operation', async () => {
    const metrics = someMetrics();
    await countAll(metrics);
    const families = await metrics.read();
    assert.equal(valueIn(families, 'regatta_store_duration_seconds_count{operation="probe"}'), 1);
    assert.equal(valueIn(families, 'regatta_store_failures_total{operation="read_shard"}'), 1);
    assert.equal(
      valueIn(families, 'regatta_store_duration_seconds_count{operation="read_shard"}'),
      undefined,
    );
  });

  it('include what journals are asked for', async () => {
    const metrics = someMetrics();
    const folder = await mkdtemp(join(tmpdir(), 'regatta-metrics-'));
    const journal = await metrics.meterStore(createFileStore(folder)).openJournal('night/refund/1', '1-1-a');
    await journal.append([{ kind: 'released', at: 1 }]);
    await journal.flush();
    await journal.close();
    await rm(folder, { recursive: true });
    const families = await metrics.read();
    for (const operation of ['open_journal', 'append', 'flush'])
      assert.equal(valueIn(families, `regatta_store_duration_seconds_count{operation="${operation}"}`), 1);
  });
});

describe('labels that come from sweep files', () => {
  it('count scenarios beyond the limit as "other", and make room when their sweep has left', async () => {
    const { clock, meter, read } = someMetrics();
    for (let scenario = 0; scenario < labelLimits.scenario + 2; scenario++)
      meter.runEnded('night', aRun({ scenario: `s${scenario}`, outcome: 'failed' }));
    assert.equal(
      valueIn(await read(), 'regatta_scenario_runs_total{sweep="night",scenario="other",outcome="failed"}'),
      2,
    );
    clock.at = hourMs;
    meter.runEnded('day', aRun({ scenario: 'fresh', outcome: 'failed' }));
    assert.deepEqual(
      (await read())
        .get('regatta_scenario_runs_total')
        ?.samples.map(({ labels }) => [labels.sweep, labels.scenario]),
      [['day', 'fresh']],
    );
  });

  it('count models beyond the limit as "other" and say so', async () => {
    const { meter, read } = someMetrics();
    for (let model = 0; model < labelLimits.model + 2; model++)
      meter.call(aCall({ model: `m${model}`, costUsd: 0 }));
    meter.call(aCall({ model: 'm0' }));
    const families = await read();
    const models = new Set(families.get('regatta_calls_total')?.samples.map(({ labels }) => labels.model));
    assert.equal(models.size, labelLimits.model + 1);
    assert.equal(valueIn(families, 'regatta_calls_total{model="other"}'), 2);
    assert.equal(valueIn(families, 'regatta_calls_total{model="m0"}'), 2);
    assert.equal(valueIn(families, 'regatta_label_overflow_total{label="model"}'), 2);
  });

  it('count sweeps beyond the limit as "other" while all are live', async () => {
    const { meter, read } = someMetrics();
    for (let sweep = 0; sweep < labelLimits.sweep + 3; sweep++) meter.runEnded(`s${sweep}`, aRun());
    const families = await read();
    assert.equal(valueIn(families, 'regatta_runs_total{sweep="other",outcome="passed"}'), 3);
    assert.equal(valueIn(families, 'regatta_label_overflow_total{label="sweep"}'), 3);
  });

  it('forget a sweep that wrote no result for an hour, and keep the ones that did', async () => {
    const { clock, meter, read } = someMetrics();
    meter.runEnded('old', aRun());
    meter.runEnded('live', aRun());
    clock.at = hourMs / 2;
    meter.runEnded('live', aRun());
    clock.at = hourMs;
    const families = await read();
    assert.deepEqual(
      families.get('regatta_runs_total')?.samples.map(({ labels, value }) => [labels.sweep, value]),
      [['live', 2]],
    );
  });

  it('give the place of a forgotten sweep to a new one', async () => {
    const { clock, meter, read } = someMetrics();
    for (let sweep = 0; sweep < labelLimits.sweep; sweep++) meter.runEnded(`s${sweep}`, aRun());
    clock.at = hourMs;
    meter.runEnded('new', aRun());
    const families = await read();
    assert.equal(valueIn(families, 'regatta_runs_total{sweep="new",outcome="passed"}'), 1);
    assert.equal(valueIn(families, 'regatta_label_overflow_total{label="sweep"}'), undefined);
  });
});

describe('docs/metrics.md', () => {
  it('lists exactly the metrics of the catalogue', () => {
    const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `regatta_'));
    assert.equal(rows.join('\n'), catalogue.map(rowOf).join('\n'));
  });

  it('names the limits of the labels', () => {
    const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
    assert.match(page, new RegExp(`at most ${labelLimits.sweep} sweeps`));
    assert.match(page, new RegExp(`at most ${labelLimits.model} models`));
    assert.match(page, new RegExp(`at most ${labelLimits.check} checks`));
    assert.match(page, new RegExp(`at most ${labelLimits.scenario} scenarios`));
  });
});

function rowOf([name, kind, { labels, help, buckets }]: (typeof catalogue)[number]): string {
  const shownBuckets = buckets === undefined ? '' : ` Buckets: ${buckets.join(', ')}.`;
  return `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help}${shownBuckets} |`;
}
