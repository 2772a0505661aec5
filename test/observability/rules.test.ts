import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { root } from '../test-files.ts';
import { publishedRules, rulesFile, selectorsOf, syntaxErrors } from './queries.ts';

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const withPromtool = {
  skip: !hasPromtool && 'there is no promtool here (Debian: apt-get install prometheus)',
};

const tests = globSync('deploy/prometheus/tests/*.yaml', { cwd: root }).map((file) => join(root, file));
const rules = publishedRules();
const alerts = rules.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));

function promtool(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}` };
}

describe('the rules for Prometheus', () => {
  it('are taken by promtool', withPromtool, () => {
    const { status, said } = promtool('check', 'rules', fileURLToPath(rulesFile));
    assert.equal(status, 0, said);
  });

  it('fire when their tests say so, and not before', withPromtool, () => {
    const { status, said } = promtool('test', 'rules', ...tests);
    assert.equal(status, 0, said);
  });

  it('come with an example configuration that promtool takes', withPromtool, () => {
    const { status, said } = promtool(
      'check',
      'config',
      join(root, 'deploy/prometheus/prometheus.example.yaml'),
    );
    assert.equal(status, 0, said);
  });

  it('are PromQL', () => {
    for (const { record, alert, expr } of rules) assert.deepEqual(syntaxErrors(expr), [], record ?? alert);
  });

  it('build on records that there are, and use each', () => {
    const records = rules.flatMap(({ record }) => record ?? []);
    const read = rules.flatMap(({ expr }) => selectorsOf(expr).map(({ metric }) => metric));
    for (const name of read.filter((metric) => metric.startsWith('regatta:')))
      assert.ok(records.includes(name), name);
    assert.equal(new Set(records).size, records.length);
  });

  it('are each seen firing by a test, and each seen silent', () => {
    const cases = tests.flatMap((file) => {
      const { tests: groups } = parse(readFileSync(file, 'utf8')) as {
        tests: { alert_rule_test?: { alertname: string; exp_alerts: unknown[] }[] }[];
      };
      return groups.flatMap((group) => group.alert_rule_test ?? []);
    });
    const firing = new Set(
      cases.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname),
    );
    assert.deepEqual([...firing].sort(), alerts.map(({ alert }) => alert).sort());
  });
});

describe('docs/runbooks.md', () => {
  const page = readFileSync(new URL('../../docs/runbooks.md', import.meta.url), 'utf8');
  const headings = [...page.matchAll(/^## (Regatta\w+)$/gm)].map(([, heading]) => heading);

  it('has a paragraph for each alert, and no other', () => {
    assert.deepEqual(
      headings,
      alerts.map(({ alert }) => alert),
    );
  });

  it('is where each alert points', () => {
    for (const { alert, annotations } of alerts)
      assert.equal(annotations?.runbook_url, `docs/runbooks.md#${alert.toLowerCase()}`);
  });

  it('says of each alert what it means, what to look at and what to do', () => {
    for (const section of page.split(/^## /m).slice(1)) {
      const [heading = ''] = section.split('\n');
      for (const part of ['Means:', 'Look:', 'Do:'])
        assert.ok(section.includes(`**${part}**`), `${heading} ${part}`);
    }
  });
});

describe('alerts', () => {
  it('have a severity, a summary and a description', () => {
    for (const { alert, labels, annotations } of alerts) {
      assert.match(labels?.severity ?? '', /^(info|warning|critical)$/, alert);
      assert.notEqual(annotations?.summary ?? '', '', alert);
      assert.notEqual(annotations?.description ?? '', '', alert);
    }
  });
});
