import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createCatalog } from '../../activities/catalog.ts';
import type { Dependencies } from '../../activities/ports.ts';
import { preflight, probeEndpoints } from '../../activities/preflight.ts';
import type { SweepSpec } from '../../domain/sweep-spec.ts';
import { aFault, aProject, aStage, aTarget, runId, theSpec } from './stretch-builders.ts';

async function aWorker(
  t: TestContext,
  spec: Partial<SweepSpec> = {},
  more: Partial<Dependencies> = {},
  project?: string,
) {
  const parts = { spec: theSpec(spec), ...(project === undefined ? {} : { project }) };
  const stage = await aStage(t, parts);
  const deps = { ...stage.deps, ...more };
  const catalog = createCatalog(deps.store);
  const { hash } = await catalog.sweep('sweep');
  return { deps, catalog, hash };
}

describe('preflight', () => {
  it('lets a worker play that lacks nothing', async (t) => {
    const { deps, catalog, hash } = await aWorker(t);
    await preflight(deps, catalog, { sweep: 'sweep', hash });
  });

  it('refuses another sweep under the same id: the store is not the one it was started with', async (t) => {
    const { deps, catalog } = await aWorker(t);
    const refused = preflight(deps, catalog, { sweep: 'sweep', hash: 'other' });
    await assert.rejects(refused, {
      code: 'invalid_request',
      message: /holds another sweep under the id sweep/,
    });
  });

  it('refuses a store without the sweep', async (t) => {
    const { deps, catalog } = await aWorker(t);
    const refused = preflight(deps, catalog, { sweep: 'gone', hash: '' });
    await assert.rejects(refused, {
      code: 'not_found',
      blame: 'configuration',
      message: /has no sweep gone/,
    });
  });

  it('asks for the environment names of the sweep', async (t) => {
    const asked: string[] = [];
    const proveEnv = (names: readonly string[]) => void asked.push(...names);
    const { deps, catalog, hash } = await aWorker(t, { env: ['REGATTA_SECRET_A'] }, { proveEnv });
    await preflight(deps, catalog, { sweep: 'sweep', hash });
    assert.deepEqual(asked, ['REGATTA_SECRET_A']);
  });

  it('refuses a module of another content than planned', async (t) => {
    const { project, module } = await aProject(t, { 'desk.ts': 'export const reply = () => "yes";' });
    const planned = { ...(await module('desk.ts')), sha256: '0'.repeat(64) };
    const { deps, catalog, hash } = await aWorker(
      t,
      { targets: [aTarget({ kind: 'module', module: planned })] },
      {},
      project,
    );
    const refused = preflight(deps, catalog, { sweep: 'sweep', hash });
    await assert.rejects(refused, { blame: 'configuration', message: /desk\.ts/ });
  });
});

describe('the probe of the endpoints', () => {
  const signals = { stop: new AbortController().signal, abort: new AbortController().signal };

  async function probed(t: TestContext, probe: Dependencies['models']['probe']) {
    const { deps, catalog } = await aWorker(t);
    return probeEndpoints(
      { ...deps, models: { ...deps.models, probe } },
      catalog,
      { sweep: 'sweep' },
      signals,
    );
  }

  it('asks each model that is used once', async (t) => {
    const asked: string[] = [];
    const came = await probed(t, async ({ name }) => {
      asked.push(name);
      return { calls: 1 };
    });
    assert.deepEqual([asked.toSorted(), came], [['driver', 'target'], { warnings: [], calls: 2 }]);
  });

  it('tells what will never work', async (t) => {
    const came = await probed(t, async ({ name }) => {
      if (name === 'driver') throw aFault('denied', { blame: 'configuration' });
      return { calls: 1 };
    });
    assert.deepEqual(came, { refused: 'scripted denied', warnings: [], calls: 2 });
  });

  it('warns of what may pass', async (t) => {
    const came = await probed(t, async ({ name }) => {
      if (name === 'driver') throw aFault('unavailable');
      return { calls: 1, warning: 'odd' };
    });
    assert.deepEqual(came, { warnings: ['scripted unavailable', 'odd'], calls: 2 });
  });
});

it('a catalog finds a run with its scenario and target, and says what it does not have', async (t) => {
  const { catalog } = await aWorker(t);
  const ref = { sweep: 'sweep', shard: 0, run: runId, generation: 1 };
  const { run, scenario, target } = await catalog.run(ref);
  assert.deepEqual([run.id, scenario.id, target.kind], [runId, 'row', 'chat']);
  await assert.rejects(catalog.run({ ...ref, run: 'sweep/other/1' }), {
    code: 'not_found',
    message: /has no run sweep\/other\/1/,
  });
});
