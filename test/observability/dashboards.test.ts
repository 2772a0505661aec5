import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { driftingDashboards } from '../../deploy/grafana/write.ts';
import {
  dashboardNames,
  familyOf,
  filledIn,
  type Panel,
  panelQueries,
  publishedDashboard,
  selectorsOf,
  syntaxErrors,
  windows,
} from './queries.ts';

const wanted: Readonly<Record<string, readonly string[]>> = {
  sweeps: ['datasource', 'namespace', 'queue', 'sweep'],
  models: ['datasource', 'namespace', 'queue', 'model'],
  fleet: ['datasource', 'namespace', 'queue'],
};

describe('the published dashboards', () => {
  it('say what their sources say: node deploy/grafana/write.ts was run', () => {
    assert.deepEqual(driftingDashboards(), []);
  });

  it('have unique names', () => {
    const all = dashboardNames.map(publishedDashboard);
    assert.equal(new Set(all.map(({ uid }) => uid)).size, all.length);
    assert.equal(new Set(all.map(({ title }) => title)).size, all.length);
  });
});

for (const name of dashboardNames) {
  const dashboard = publishedDashboard(name);
  const { panels, templating } = dashboard;
  const drawn = panels.filter(({ type }) => type !== 'row');

  describe(`the dashboard ${name}`, () => {
    it('is in the classic form that Grafana 10 to 13 import, and cannot be edited in place', () => {
      assert.equal(dashboard.schemaVersion, 42);
      assert.equal(dashboard.editable, false);
      assert.ok(!('__inputs' in dashboard));
    });

    it('offers its variables, asked again when the time range changes, and uses each', () => {
      const { list } = templating;
      assert.deepEqual(
        list.map((variable) => variable.name),
        wanted[name],
      );
      const text = JSON.stringify({ panels, queries: list.map(({ query }) => query) });
      for (const variable of list) {
        assert.ok(text.includes(`$${variable.name}`) || variable.name === 'datasource', variable.name);
        if (variable.type !== 'query') continue;
        assert.equal(variable.refresh, 2, variable.name);
        assert.equal(variable.datasource?.uid, '$datasource');
      }
    });

    it('has panels with ids of their own, within the grid and side by side', () => {
      assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
      for (const { gridPos } of panels) assert.ok(gridPos.x >= 0 && gridPos.x + gridPos.w <= 24);
      for (const [index, panel] of panels.entries()) {
        const over = panels.slice(index + 1).filter((other) => overlap(panel, other));
        assert.deepEqual(over, [], panel.title);
      }
    });

    it('has panels with title, description, unit, legends and queries to the chosen data source', () => {
      assert.equal(new Set(drawn.map(({ title }) => title)).size, drawn.length);
      for (const panel of drawn) {
        assert.match(panel.title ?? '', /^[A-Z]/);
        assert.match(panel.description ?? '', /^\S.*\.$/, panel.title);
        assert.match(panel.fieldConfig?.defaults.unit ?? '', /./, panel.title);
        assert.equal(panel.datasource?.uid, '$datasource');
        assert.ok((panel.targets ?? []).length > 0, panel.title);
        for (const target of panel.targets ?? []) {
          assert.equal(target.datasource.uid, '$datasource');
          assert.notEqual(target.legendFormat, '', panel.title);
        }
      }
    });

    it('narrows every query to the chosen namespace and queue', () => {
      for (const { where, expr } of queriesOf(name))
        for (const { text } of selectorsOf(expr))
          assert.match(text, /namespace=~"\$namespace",task_queue=~"\$queue"/, where);
    });
  });
}

describe("the panels' queries", () => {
  it('are PromQL', () => {
    for (const { where, expr } of panelQueries()) assert.deepEqual(syntaxErrors(filledIn(expr)), [], where);
    assert.notDeepEqual(syntaxErrors('sum by (x (rate(y[5m]))'), []);
  });

  it('show labels in their legends that the query keeps', () => {
    for (const { where, expr, legend } of panelQueries())
      for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g))
        assert.match(expr, new RegExp(`by \\([^)]*\\b${label}\\b`), where);
  });

  it('take the rate of counters over the rate interval, their rise over the time range, and nothing else of them', () => {
    const wrong = panelQueries().flatMap(({ where, expr }) =>
      selectorsOf(filledIn(expr))
        .filter(({ metric }) => /_(total|bucket|sum|count)$/.test(metric))
        .filter(({ call, window }) => {
          if (call === 'rate') return window !== windows.rate;
          return call !== 'increase' || window !== windows.range;
        })
        .map(({ text }) => `${where}: ${text}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('take no rate of a gauge', () => {
    for (const { where, expr } of panelQueries())
      for (const { metric, call } of selectorsOf(filledIn(expr)))
        if (familyOf(metric) === metric && !metric.endsWith('_total'))
          assert.ok(call === undefined || call === 'last_over_time', where);
  });

  it('never sum what several workers tell alike', () => {
    for (const { where, expr } of panelQueries())
      for (const { metric } of selectorsOf(filledIn(expr)))
        if (/^regatta_(sweep_(?!watch)|queue_|scenario_slowest)/.test(metric))
          assert.match(expr, new RegExp(`max by \\([^)]*\\) \\((last_over_time\\()?${metric}`), where);
  });
});

function queriesOf(name: string) {
  return panelQueries().filter(({ where }) => where.startsWith(`${name}:`));
}

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
