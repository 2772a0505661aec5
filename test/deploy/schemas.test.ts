import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../test-files.ts';
import { at, type Manifest, render, renderText, scenarios, the } from './chart.ts';
import { run } from './shell.ts';
import { findHelm, npmTools, pythonTool } from './tools.ts';

const helm = await findHelm();
const models = await npmTools();
const validate = await pythonTool('kubernetes-validate');
const noHelm = helm === undefined && 'helm cannot be had here';
const versions = ['1.30', '1.34', '1.37'];

/** Where the type of a kind is, for those of the cluster and of the operators beside it. */
const typeOf = ({ apiVersion, kind }: Manifest): string => {
  const group = apiVersion.split('/')[0] ?? '';
  if (group === 'keda.sh') return `@kubernetes-models/keda/${apiVersion}/${kind}`;
  if (group === 'monitoring.coreos.com')
    return `@kubernetes-models/prometheus-operator/${apiVersion}/${kind}`;
  return `kubernetes-models/${apiVersion}/${kind}`;
};

/** What the compiler says of objects as literals of their types: it finds unknown fields as well. */
async function complaints(manifests: readonly Manifest[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-literals-'));
  try {
    await symlink(join(models ?? '', 'node_modules'), join(folder, 'node_modules'));
    const literals = manifests.map(
      (manifest, index) =>
        `import type { I${manifest.kind} as T${index} } from '${typeOf(manifest)}';\n` +
        `export const o${index}: T${index} = ${JSON.stringify(manifest)};\n`,
    );
    await writeFile(join(folder, 'literals.mts'), literals.join(''));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
    const { stdout } = await run(process.execPath, [compiler, ...flags, 'literals.mts'], { cwd: folder });
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('what the chart renders', { skip: noHelm }, () => {
  for (const version of versions) {
    it(`is valid for Kubernetes ${version}, strictly`, {
      skip: validate === undefined && 'kubernetes-validate cannot be had from PyPI',
    }, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'regatta-manifests-'));
      try {
        const files = await Promise.all(
          scenarios.map(async (scenario) => {
            const file = join(folder, `${scenario}.yaml`);
            await writeFile(file, await renderText(scenario));
            return file;
          }),
        );
        const { code, stdout, stderr } = await run(validate ?? '', [
          '-k',
          version,
          '--strict',
          '--quiet',
          ...files,
        ]);
        assert.equal(code, 0, `${stdout}${stderr}`);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }

  it('has only fields that their kinds have, those of KEDA and of Prometheus too', async () => {
    const manifests = (await Promise.all(scenarios.map((scenario) => render(scenario)))).flat();
    assert.ok(manifests.some(({ kind }) => kind === 'ScaledObject'));
    assert.ok(manifests.some(({ kind }) => kind === 'PodMonitor'));
    assert.equal(await complaints(manifests), '');
  });

  it('would be found out with a field that its kind does not have', async () => {
    const scaled = the(await render('keda'), 'ScaledObject');
    const wrong = { ...scaled, spec: { ...Object(scaled.spec), minReplicas: 1 } };
    assert.match(await complaints([wrong]), /minReplicas/);
  });
});

/** What KEDA's scalers read, from their documentation (2.20 and later); no schema says it. */
const metadataOf: Readonly<Record<string, readonly string[]>> = {
  temporal: [
    ...['endpoint', 'namespace', 'taskQueue', 'queueTypes', 'targetQueueSize', 'activationTargetQueueSize'],
    ...['includeRunningWorkflowCount', 'workflowTaskQueueForCount', 'enableTLS', 'tlsServerName'],
  ],
  prometheus: ['serverAddress', 'query', 'threshold', 'activationThreshold', 'ignoreNullValues'],
};

type Trigger = { readonly type: string; readonly metadata: Readonly<Record<string, unknown>> };

async function triggersOf(scenario: string, set: readonly string[] = []): Promise<readonly Trigger[]> {
  const triggers = at(the(await render(scenario, set), 'ScaledObject'), 'spec.triggers');
  assert.ok(Array.isArray(triggers));
  return triggers;
}

describe('the scaling by KEDA', { skip: noHelm }, () => {
  it('gives its triggers only strings, and only what they read', async () => {
    for (const scenario of ['keda', 's3']) {
      for (const { type, metadata } of await triggersOf(scenario)) {
        assert.deepEqual(
          Object.entries(metadata).filter(
            ([name, value]) => typeof value !== 'string' || !metadataOf[type]?.includes(name),
          ),
          [],
        );
      }
    }
  });

  it('asks for one pod for as many waiting conversations as a pod has slots', async () => {
    const [backlog] = await triggersOf('s3');
    assert.deepEqual([backlog?.metadata.targetQueueSize, backlog?.metadata.queueTypes], ['128', 'activity']);
  });

  it('holds as many pods as the windows of live sweeps need', async () => {
    const [, window] = await triggersOf('s3');
    assert.equal(window?.metadata.threshold, '102');
    assert.match(
      String(window?.metadata.query),
      /regatta_sweep_window\{namespace="sweeps\.a1b2c",task_queue="regatta\.desk"\}/,
    );
  });

  it('goes no further than the providers bear', async () => {
    const scaled = the(await render('s3'), 'ScaledObject');
    assert.equal(at(scaled, 'spec.maxReplicaCount'), 8);
  });

  it('does not take the last pod away from conversations that are played', async () => {
    const [fromZero] = await triggersOf('keda');
    assert.equal(fromZero?.metadata.includeRunningWorkflowCount, 'true');
    const [fromOne] = await triggersOf('keda', ['autoscaling.minReplicas=1']);
    assert.equal(fromOne?.metadata.includeRunningWorkflowCount, undefined);
  });

  it('is let in to Temporal by the same secrets as the workers', async () => {
    const parametersOf = async (scenario: string) =>
      at(the(await render(scenario), 'TriggerAuthentication'), 'spec.secretTargetRef');
    assert.deepEqual(await parametersOf('s3'), [{ parameter: 'apiKey', name: 'temporal-cloud', key: 'key' }]);
    assert.deepEqual(await parametersOf('keda'), [
      { parameter: 'cert', name: 'temporal-client', key: 'tls.crt' },
      { parameter: 'key', name: 'temporal-client', key: 'tls.key' },
      { parameter: 'ca', name: 'temporal-ca', key: 'ca.crt' },
    ]);
  });

  it('scales both halves of a queue where one role plays both', async () => {
    const both = [
      'workers.all.enabled=true',
      'workers.workflows.enabled=false',
      'workers.activities.enabled=false',
    ];
    const [backlog] = await triggersOf('keda', both);
    assert.equal(backlog?.metadata.queueTypes, 'activity,workflow');
  });
});
