import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { CheckSpec } from '../../domain/check.ts';
import type { Report } from '../../domain/report.ts';
import { type Role, roles } from '../../domain/usage.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { endOf, type Fleet, people, startFleet } from '../fleet/fleet.ts';
import { aJudgeCheck, aModel, aSpec } from '../sweep-builders.ts';
import { readMetricText } from '../workers/metric-text.ts';
import { hasPrometheus, type Prometheus, startPrometheus } from './prometheus-process.ts';
import { filledIn, panelQueries, publishedRules, selectorsOf } from './queries.ts';

/** What a sweep of a minute on one machine cannot show, and why. */
const mayBeEmpty: Readonly<Record<string, string>> = {
  regatta_store_failures_total: 'the disk did not fail; alert tests and metric tests cover it',
  regatta_label_overflow_total: 'there are fewer values than the limits; metric tests cover it',
  temporal_sticky_cache_miss_total: 'no workflow moved to another worker',
  temporal_sticky_cache_total_forced_eviction_total: 'fewer workflows than the cache holds',
  temporal_workflow_task_execution_failed_total: 'no workflow task failed',
  approximate_backlog_count: 'a server tells it once a minute, and here it is younger',
  temporal_cloud_v1_approximate_backlog_count: 'Temporal Cloud is not at hand',
};

const runCount = 60;
/** Fails the runs of the scenarios that have its tag. */
const strictCheck = {
  kind: 'contains_all',
  texts: ['a word that nobody says'],
  caseSensitive: false,
  name: 'strict',
  sees: 'transcript',
  at: 'end',
  rollup: 'all',
  required: true,
  not: false,
  forTag: 'strict',
} as CheckSpec;

let practice: PracticeModel;
let fleet: Fleet;
let prometheus: Prometheus;
const reports: Report[] = [];

before(async () => {
  if (!hasPrometheus) return;
  // One call in four has no answer that could be read: three such in a row break a run.
  practice = await startPracticeModel({
    latencyMs: 150,
    seed: 3,
    faults: { malformed: 0.25, rate429: 0.1, rate500: 0.05, retryAfterS: 1 },
  });
  fleet = await startFleet(0);
  const ports: number[] = [];
  for (let worker = 0; worker < 2; worker += 1) ports.push(await metricsPort());
  prometheus = await startPrometheus({ 'regatta-workers': ports.map((port) => `127.0.0.1:${port}`) });
  // More than the windows ever have in flight: shared out, and never waited for.
  const model = aModel(practice.url, { price: { input: 1, output: 2 }, maxInFlight: 200 });
  const spec = aSpec(model, { checks: [aJudgeCheck(), strictCheck], concurrency: 30 });
  const scenarios = people(runCount).map((scenario, index) => ({
    ...scenario,
    tags: index % 4 === 0 ? ['strict'] : [],
  }));
  await fleet.start(await fleet.plan('main', spec, scenarios), { budgetUsd: 100 });
  // The budget is enough for a few runs, so that the sweep halts.
  await fleet.start(await fleet.plan('poor', spec, people(30)), { budgetUsd: 0.004, estimateUsd: 0.001 });
  for (const sweep of ['main', 'poor']) {
    await endOf(fleet, sweep);
    reports.push(reportOf(sweep));
  }
  await untilTold();
});

after(async () => {
  await prometheus?.stop();
  await fleet?.stop();
  await practice?.close();
});

/** Starts a worker that serves its metrics, and says where. */
async function metricsPort(): Promise<number> {
  const worker = await fleet.addWorker(['--metrics-port', '0']);
  const line = worker.log().find((text) => text.includes('serving /metrics')) ?? '{}';
  return Number((JSON.parse(line) as { readonly port: number }).port);
}

function reportOf(sweep: string): Report {
  const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
  const args = [main, 'report', sweep, '--store', fleet.folder, '--json', '-'];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout);
}

/** The last look at the sweeps, at most 15 s after their end, is in Prometheus, and so are both pages since then. */
async function untilTold(): Promise<void> {
  const since = Date.now() / 1000;
  for (let tries = 0; tries < 60; tries += 1) {
    const ended = await prometheus.now('max by (sweep) (regatta_sweep_state{state="ended"})');
    const [oldest] = await prometheus.now('min(timestamp(up))');
    if (ended.length === 2 && (oldest?.values[0] ?? 0) > since) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error('the sweeps are not told of as ended');
}

/** Metrics of a query, some of which may have no series here. */
function excused(expr: string): boolean {
  return selectorsOf(expr).some(({ metric }) => metric in mayBeEmpty || metric === 'regatta:server_backlog');
}

async function sumBy(label: string, selector: string): Promise<Readonly<Record<string, number>>> {
  const series = await prometheus.now(`sum by (${label}) (${selector})`);
  return Object.fromEntries(
    series.map(({ metric, values }) => [metric[label] ?? '', values[0] ?? Number.NaN]),
  );
}

const overReports = (value: (report: Report) => number) =>
  reports.reduce((sum, report) => sum + value(report), 0);
const ofRole = (role: Role, value: (usage: Report['usage']['by_role'][Role]) => number) =>
  overReports((report) => value(report.usage.by_role[role]));

const options = {
  skip: !hasPrometheus && 'there is no prometheus here (Debian: apt-get install prometheus)',
};

describe('a fleet of two workers with a provider that fails, scraped by Prometheus', options, () => {
  it('played a sweep in which runs passed, failed and broke, and one that was halted', () => {
    const [main, poor] = reports;
    for (const outcome of ['passed', 'failed', 'broken'] as const)
      assert.ok((main?.runs[outcome] ?? 0) > 0, outcome);
    assert.equal(poor?.halted?.reason, 'budget');
    assert.ok((poor?.runs.unplayed ?? 0) > 0);
  });

  it("answers every panel's query", async () => {
    const empty: string[] = [];
    for (const { where, expr } of panelQueries()) {
      const query = filledIn(expr);
      await prometheus.format(query);
      const series = await prometheus.range(query);
      const values = series.flatMap((each) => each.values).filter((value) => !Number.isNaN(value));
      if (values.length === 0 && !excused(query)) empty.push(`${where}: ${query}`);
    }
    assert.deepEqual(empty, []);
  });

  it('answers every record, and finds every series that an alert reads', async () => {
    const empty: string[] = [];
    for (const { record, alert, expr } of publishedRules()) {
      await prometheus.format(expr);
      const queries = alert === undefined ? [expr, `${record}`] : selectorsOf(expr).map(({ text }) => text);
      for (const query of queries) {
        // One reason is another than the budget's, and states pass: what matters is that the metric is there.
        const asked = alert === undefined ? query : query.replace(/reason!="budget"|state!?="\w+"/, '');
        if ((await prometheus.range(asked)).length === 0 && !excused(asked))
          empty.push(`${alert ?? record}: ${query}`);
      }
    }
    assert.deepEqual(empty, []);
  });

  it('excuses no query that is answered', async () => {
    const needless: string[] = [];
    for (const metric of Object.keys(mayBeEmpty)) {
      const isChance =
        metric === 'temporal_workflow_task_execution_failed_total' || metric.includes('sticky');
      if (!isChance && (await prometheus.range(metric)).length > 0) needless.push(metric);
    }
    assert.deepEqual(needless, []);
  });

  it('counts runs as the report does, in what workers wrote and in what sweeps tell', async () => {
    for (const { sweep, runs } of reports) {
      const { planned, unplayed, ...played } = runs;
      const shown = Object.fromEntries(Object.entries(played).filter(([, count]) => count > 0));
      assert.deepEqual(await sumBy('outcome', `regatta_runs_total{sweep="${sweep}"}`), shown);
      const told = await sumBy('outcome', `max by (outcome) (regatta_sweep_runs{sweep="${sweep}"})`);
      assert.deepEqual({ ...told, unplayed }, { ...played, unplayed });
      const [line] = await prometheus.now(`max(regatta_sweep_planned_runs{sweep="${sweep}"})`);
      assert.equal(line?.values[0], planned);
    }
  });

  it('counts endings, and faults that broke runs, as the report does', async () => {
    for (const { sweep, endings, runs } of reports) {
      assert.deepEqual(await sumBy('ending', `regatta_endings_total{sweep="${sweep}"}`), endings);
      const faults = Object.values(await sumBy('code', `regatta_faults_total{sweep="${sweep}"}`));
      assert.equal(
        faults.reduce((sum, count) => sum + count, 0),
        runs.broken,
      );
    }
  });

  it('counts calls, answered and faulty, as the report does', async () => {
    const byCode = await sumBy('code', 'regatta_calls_total');
    const { ok = 0, ...faulty } = byCode;
    const byRole = await sumBy('role', 'regatta_calls_total{code="ok"}');
    for (const role of roles)
      assert.equal(
        byRole[role],
        ofRole(role, ({ calls }) => calls),
        role,
      );
    assert.equal(
      ok,
      overReports(({ usage }) => usage.calls),
    );
    for (const [code, count] of Object.entries(faulty))
      assert.ok(count >= overReports(({ retries }) => retries[code] ?? 0), code);
  });

  it('counts tokens and money as the report does', async () => {
    for (const kind of ['input', 'output'] as const) {
      const byRole = await sumBy('role', `regatta_tokens_total{kind="${kind}"}`);
      for (const role of roles)
        assert.equal(
          byRole[role],
          ofRole(role, (usage) => usage[`${kind}_tokens`]),
          role,
        );
    }
    const cost = await sumBy('role', 'regatta_cost_usd_total');
    for (const role of roles)
      assert.ok(Math.abs((cost[role] ?? 0) - ofRole(role, ({ cost_usd }) => cost_usd)) < 1e-6, role);
    for (const { sweep, usage } of reports) {
      const [spent] = await prometheus.now(`max(regatta_sweep_spent_usd{sweep="${sweep}"})`);
      assert.ok(Math.abs((spent?.values[0] ?? 0) - usage.cost_usd) < 1e-6, sweep);
    }
  });

  it('draws the curves of a dashboard from those numbers: the rise over the sweep is what was counted', async () => {
    const counted = overReports(({ usage }) => usage.calls);
    const query = 'sum(increase(regatta_calls_total{code="ok"}[10m]))';
    const [rise] = await prometheus.now(query);
    // A rise is extrapolated, and the first sample of a series is no rise.
    assert.ok(Math.abs((rise?.values[0] ?? 0) / counted - 1) < 0.25, `${rise?.values[0]} for ${counted}`);
  });

  it('serves pages that promtool finds no fault with, of less than two thousand series', async () => {
    const targets = await prometheus.now('max by (instance) (up)');
    assert.equal(targets.length, 2);
    for (const { metric } of targets) {
      const page = await (await fetch(`http://${metric.instance}/metrics`)).text();
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: page,
        encoding: 'utf8',
      });
      assert.equal(status, 0, `${stdout}${stderr}`);
      const families = [...readMetricText(page.replaceAll('\n\n', '\n')).values()];
      assert.ok(families.flatMap(({ samples }) => samples).length < 2_000);
    }
  });
});
