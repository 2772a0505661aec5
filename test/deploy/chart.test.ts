import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { driftingCopies } from '../../deploy/helm/write-files.ts';
import { workerDefaults } from '../../workers/config.ts';
import { root } from '../test-files.ts';
import { at, chart, type Manifest, pods, render, scenarios, the, valuesOf } from './chart.ts';
import { output, run } from './shell.ts';
import { findHelm } from './tools.ts';
import { driftingManifests } from './write-manifests.ts';

const helm = await findHelm();
const skip = helm === undefined ? 'helm cannot be had here: set HELM_PATH' : false;
const rendered = new Map<string, readonly Manifest[]>();
const all = () => [...rendered.values()].flat();
const workers = () => all().filter(({ kind }) => kind === 'Deployment');
const dashboard = (name: string) => readFile(join(root, `deploy/grafana/dashboards/${name}.json`), 'utf8');
const container = 'spec.template.spec.containers.0';

describe('the chart', { skip }, () => {
  before(async () => {
    for (const scenario of scenarios) rendered.set(scenario, await render(scenario));
  });
  const of = (scenario: string) => rendered.get(scenario) ?? [];

  for (const scenario of scenarios) {
    it(`is lint-free with the values "${scenario}"`, async () => {
      const { code, stdout } = await run(helm ?? '', ['lint', '--strict', chart, '-f', valuesOf(scenario)]);
      assert.equal(code, 0, stdout);
    });
  }

  it('is rendered in deploy/manifests as it is', async () => {
    assert.deepEqual(await driftingManifests(), []);
  });

  it('starts workers with flags that regatta knows', async () => {
    const help = await output(process.execPath, ['cli/main.ts', 'worker', '--help'], { cwd: root });
    const known = new Set(help.match(/--[a-z-]+/g));
    const given = workers().flatMap((worker) => at(worker, `${container}.args`));
    const flags = given.flatMap((text) => /^--[a-z-]+/.exec(String(text)) ?? []);
    assert.deepEqual(
      [...new Set(flags)].filter((flag) => !known.has(flag)),
      [],
    );
  });

  it('starts runs with flags that regatta knows', async () => {
    const help = await output(process.execPath, ['cli/main.ts', 'run', '--help'], { cwd: root });
    const given = at(the(of('mtls'), 'Job'), `${container}.args`);
    assert.ok(Array.isArray(given));
    for (const flag of given.flatMap((text) => /^--[a-z-]+/.exec(String(text)) ?? []))
      assert.ok(help.includes(flag), flag);
  });

  it('lets a pod live 30 s longer than its drain may take, and a drain longer than a call', () => {
    const cloud = the(of('cloud'), 'Deployment', '-activities');
    assert.equal(at(cloud, 'spec.template.spec.terminationGracePeriodSeconds'), 345);
    assert.ok(JSON.stringify(at(cloud, `${container}.args`)).includes('--grace=315s'));
    const minimal = the(of('minimal'), 'Deployment', '-activities');
    assert.ok(JSON.stringify(at(minimal, `${container}.args`)).includes(`--grace=${workerDefaults.grace}`));
  });

  it('serves metrics and health where the cluster can ask for them', () => {
    for (const worker of workers()) {
      assert.ok(JSON.stringify(at(worker, `${container}.args`)).includes('--metrics-host=0.0.0.0'));
      assert.equal(at(worker, `${container}.livenessProbe.httpGet.path`), '/healthz');
      assert.equal(at(worker, `${container}.readinessProbe.httpGet.path`), '/readyz');
      assert.equal(at(worker, `${container}.ports.0.containerPort`), 9464);
    }
  });

  it('runs no pod as root, with a file system that can be written, or with a token of the cluster', () => {
    assert.ok(pods(all()).length >= 12);
    for (const pod of pods(all())) {
      assert.equal(at(pod, 'spec.securityContext.runAsNonRoot'), true);
      assert.equal(at(pod, 'spec.securityContext.seccompProfile.type'), 'RuntimeDefault');
      assert.equal(at(pod, 'spec.automountServiceAccountToken'), false);
      assert.deepEqual(at(pod, 'spec.containers.0.securityContext'), {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it('limits memory to what is requested, the heap to a part of it, and no processor', () => {
    for (const pod of pods(all())) {
      const limits = at(pod, 'spec.containers.0.resources.limits');
      assert.deepEqual(limits, { memory: at(pod, 'spec.containers.0.resources.requests.memory') });
      const options = at(pod, 'spec.containers.0.env.1.value');
      assert.match(String(options), /--max-old-space-size-percentage=65/);
    }
  });

  it('starts Node with options that it takes from its environment', async () => {
    const NODE_OPTIONS = String(at(pods(of('minimal'))[0], 'spec.containers.0.env.1.value'));
    const heap = "console.log(require('v8').getHeapStatistics().heap_size_limit > 0)";
    assert.equal(await output(process.execPath, ['-e', heap], { env: { NODE_OPTIONS } }), 'true\n');
  });

  it('holds no secret of its own: keys come from secrets that exist', () => {
    assert.deepEqual(
      all().filter(({ kind }) => kind === 'Secret'),
      [],
    );
    const cloud = the(of('cloud'), 'Deployment', '-activities');
    assert.deepEqual(at(cloud, `${container}.env.2`), {
      name: 'TEMPORAL_API_KEY',
      valueFrom: { secretKeyRef: { name: 'temporal-cloud', key: 'apiKey' } },
    });
    assert.deepEqual(at(cloud, `${container}.envFrom.1`), { secretRef: { name: 'model-keys' } });
  });

  it('lets sweeps use the variables and hosts that were allowed', () => {
    const args = at(the(of('cloud'), 'Deployment', '-activities'), `${container}.args`);
    assert.ok(Array.isArray(args));
    assert.deepEqual(
      args.filter((text) => String(text).startsWith('--allow')),
      [
        ...['--allow-env=OPENAI_API_KEY', '--allow-env=DESK_TOKEN'],
        ...['--allow-host=api.openai.com', '--allow-host=*.desk.example.com'],
      ],
    );
  });

  it('leaves the number of pods to what scales them, and to nothing else', () => {
    assert.equal(at(the(of('keda'), 'Deployment', '-activities'), 'spec.replicas'), undefined);
    assert.equal(at(the(of('hpa'), 'Deployment', '-activities'), 'spec.replicas'), undefined);
    assert.equal(at(the(of('keda'), 'Deployment', '-workflows'), 'spec.replicas'), 2);
    assert.equal(at(the(of('minimal'), 'Deployment', '-activities'), 'spec.replicas'), 2);
  });

  it('asks an HPA for one pod for as many open runs as should be in its slots, up to the limit', () => {
    const { spec } = the(of('hpa'), 'HorizontalPodAutoscaler');
    assert.equal(at(spec, 'metrics.0.external.target.averageValue'), '80');
    assert.deepEqual([at(spec, 'minReplicas'), at(spec, 'maxReplicas')], [2, 12]);
    assert.equal(at(spec, 'scaleTargetRef.name'), the(of('hpa'), 'Deployment', '-activities').metadata.name);
  });

  it('has a disruption budget and a spread for each role', () => {
    for (const worker of workers()) {
      const { name } = worker.metadata;
      const budgets = all().filter(
        ({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === name,
      );
      assert.deepEqual(at(budgets[0], 'spec.selector'), at(worker, 'spec.selector'));
      assert.deepEqual(
        at(worker, 'spec.template.spec.topologySpreadConstraints.0.labelSelector'),
        at(worker, 'spec.selector'),
      );
    }
  });

  it("monitors the pods without pushing Temporal's namespace aside", () => {
    const endpoint = at(the(of('cloud'), 'PodMonitor'), 'spec.podMetricsEndpoints.0');
    assert.deepEqual(endpoint, { port: 'metrics', interval: '15s', honorLabels: true });
  });

  it('brings the alerts and records as they are published', async () => {
    assert.deepEqual(driftingCopies(), []);
    const published = parse(await readFile(join(root, 'deploy/prometheus/regatta.rules.yaml'), 'utf8'));
    assert.deepEqual(the(of('cloud'), 'PrometheusRule').spec, published);
  });

  it("brings the dashboards as they are published, where Grafana's sidecar finds them", async () => {
    const asked = await render('minimal', ['metrics.dashboards.enabled=true']);
    const brought = the(asked, 'ConfigMap', '-dashboards');
    assert.equal(brought.metadata.labels.grafana_dashboard, '1');
    assert.deepEqual(brought.data, {
      'regatta-sweeps.json': await dashboard('sweeps'),
      'regatta-models.json': await dashboard('models'),
      'regatta-fleet.json': await dashboard('fleet'),
    });
  });

  it('has no network policy unless asked, and then one that reaches Temporal', () => {
    assert.ok(!of('minimal').some(({ kind }) => kind === 'NetworkPolicy'));
    assert.match(JSON.stringify(the(of('cloud'), 'NetworkPolicy')), /"port":7233/);
  });

  it('restarts pods whose configuration has changed', async () => {
    const other = await render('minimal', ['env={"DESK_URL":"https://desk"}']);
    const annotations = (manifests: readonly Manifest[]) => at(pods(manifests)[0], 'metadata.annotations');
    assert.notDeepEqual(annotations(other), annotations(of('minimal')));
  });

  it('plays a sweep in a job that a second pod attaches to, and that a shut gate ends', () => {
    const job = the(of('mtls'), 'Job');
    assert.ok(JSON.stringify(at(job, `${container}.args`)).includes('--id=nightly-2026-11-30'));
    assert.deepEqual(at(job, 'spec.podFailurePolicy.rules.1.onExitCodes.values'), [1, 2, 3, 4, 6]);
    assert.equal(at(job, 'spec.template.spec.restartPolicy'), 'Never');
  });
});
