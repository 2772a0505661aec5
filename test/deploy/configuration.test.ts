import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { namedTemporal } from '../../cli/connection.ts';
import { root } from '../test-files.ts';
import { at, render, the } from './chart.ts';
import { output } from './shell.ts';
import { findHelm } from './tools.ts';

const skip = (await findHelm()) === undefined ? 'helm cannot be had here: set HELM_PATH' : false;
const mounted = '/var/run/temporal';

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regatta-mounted-'));
  for (const [place, names] of Object.entries({ client: ['tls.crt', 'tls.key'], ca: ['ca.crt'] })) {
    await mkdir(join(folder, place));
    for (const name of names) await writeFile(join(folder, place, name), name);
  }
});

after(() => rm(folder, { recursive: true, force: true }));

/** How a worker with the chart's variables connects; secrets are mounted in a folder of this machine. */
async function connectionOf(scenario: string, secrets: Readonly<Record<string, string>> = {}) {
  const data = Object(at(the(await render(scenario), 'ConfigMap'), 'data')) as Record<string, string>;
  const env = Object.fromEntries(
    Object.entries({ ...data, ...secrets }).map(([name, value]) => [name, value.replace(mounted, folder)]),
  );
  return namedTemporal({}, env);
}

describe('the variables that the chart sets', { skip }, () => {
  it("lead to a Temporal of one's own without TLS", async () => {
    const { connectionOptions, namespace } = (await connectionOf('minimal')) ?? {};
    assert.deepEqual(
      [connectionOptions?.address, connectionOptions?.tls ?? false, namespace],
      ['temporal-frontend.temporal:7233', false, 'default'],
    );
  });

  it('lead to Temporal Cloud with the API key of the secret, over TLS', async () => {
    const { connectionOptions, namespace } =
      (await connectionOf('cloud', { TEMPORAL_API_KEY: 'from-the-secret' })) ?? {};
    assert.equal(connectionOptions?.apiKey, 'from-the-secret');
    assert.ok(connectionOptions?.tls);
    assert.equal(namespace, 'sweeps.a1b2c');
  });

  it('lead to a server that asks for a certificate, with that of the secret', async () => {
    const { connectionOptions } = (await connectionOf('mtls')) ?? {};
    const tls = Object(connectionOptions?.tls);
    assert.equal(textOf(tls.clientCertPair.crt), 'tls.crt');
    assert.equal(textOf(tls.clientCertPair.key), 'tls.key');
    assert.equal(textOf(tls.serverRootCACertificate), 'ca.crt');
    assert.equal(tls.serverNameOverride, 'temporal.internal');
  });

  it("name the bucket's server as AWS's own library reads it", async () => {
    const data = at(the(await render('s3'), 'ConfigMap'), 'data');
    assert.equal(at(data, 'AWS_ENDPOINT_URL'), 'http://seaweedfs-s3.storage:8333');
    assert.equal(at(data, 'AWS_REGION'), 'us-east-1');
  });
});

describe('the query that KEDA holds pods by', { skip }, () => {
  it('sums the windows of sweeps that are played, each once', async (t) => {
    const promtool = await output('promtool', ['--version']).catch(() => undefined);
    if (promtool === undefined) return t.skip('promtool is not installed');
    const labels = (sweep: string, pod: string) =>
      `{namespace="sweeps",task_queue="regatta.desk",sweep="${sweep}",pod="${pod}"`;
    const told = (sweep: string, state: string, window: number) =>
      ['a', 'b'].flatMap((pod) => [
        { series: `regatta_sweep_window${labels(sweep, pod)}}`, values: String(window) },
        { series: `regatta_sweep_state${labels(sweep, pod)},state="${state}"}`, values: '1' },
      ]);
    const expr = at(the(await render('keda'), 'ScaledObject'), 'spec.triggers.1.metadata.query');
    const sum = (series: readonly unknown[], value: number) => ({
      interval: '1m',
      input_series: series,
      promql_expr_test: [{ expr, eval_time: '0m', exp_samples: [{ labels: '{}', value }] }],
    });
    const tests = [
      sum(
        [...told('one', 'running', 40), ...told('two', 'preflight', 20), ...told('three', 'paused', 500)],
        60,
      ),
      sum(told('gone', 'ended', 40), 0),
      sum([], 0),
    ];
    const file = join(folder, 'query.yaml');
    await writeFile(file, JSON.stringify({ tests }));
    await output('promtool', ['test', 'rules', file], { cwd: root });
  });
});

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
