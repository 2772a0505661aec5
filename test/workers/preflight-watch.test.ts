import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createFileStore } from '../../adapters/file-store/index.ts';
import { createDependencies } from '../../workers/dependencies.ts';
import { createMetrics } from '../../workers/metrics.ts';
import { watchPreflight } from '../../workers/preflight-watch.ts';

/** A worker's real dependencies over an empty project and an empty store. */
function someDependencies(test: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'regatta-preflight-'));
  const place = join(folder, 'sweeps');
  const { meter, onPaceWait } = createMetrics({
    version: '1',
    node: 'v24',
    namespace: 'default',
    queue: 'regatta.test',
    now: Date.now,
  });
  const { deps, close } = createDependencies({
    project: folder,
    openStore: (address = place) => createFileStore(address),
    env: { REGATTA_SECRET_KEY: 'sk-12345678' },
    allowEnv: ['REGATTA_SECRET_*'],
    allowHost: [],
    meter,
    onPaceWait,
    contact: { hold: async () => {}, mayCall: () => true },
    drain: new AbortController().signal,
    log: () => {},
    version: '1',
  });
  test.after(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });
  const watched = watchPreflight(deps, () => {});
  return { place, ...watched, store: watched.deps.openStore(place) };
}

describe('what a worker lacks', () => {
  it('is nothing before a preflight and after one that was fine', async (t) => {
    const { deps, lack, store } = someDependencies(t);
    assert.equal(lack(), undefined);
    await store.probe();
    deps.proveEnv(['REGATTA_SECRET_KEY']);
    assert.equal(lack(), undefined);
  });

  it('is a variable that is not set', async (t) => {
    const { deps, lack, store } = someDependencies(t);
    await store.probe();
    assert.throws(() => deps.proveEnv(['REGATTA_SECRET_OTHER']));
    assert.match(lack() ?? '', /REGATTA_SECRET_OTHER is not set/);
  });

  it('is a module that is not in the project', async (t) => {
    const { deps, lack, store } = someDependencies(t);
    await store.probe();
    await assert.rejects(deps.modules.prove({ file: 'checks/polite.ts', sha256: '0'.repeat(64) }));
    assert.match(lack() ?? '', /checks\/polite\.ts/);
  });

  it('is a store that cannot be written', async (t) => {
    const { lack, store, place } = someDependencies(t);
    writeFileSync(place, 'a file where the folder should be');
    await assert.rejects(store.probe());
    assert.ok(lack()?.includes(place));
  });

  it('is the store that a sweep was started with, where this one does not know it', async (t) => {
    const { lack, store, place } = someDependencies(t);
    await store.readSweep('night');
    assert.equal(lack(), `the store ${place} has no sweep night`);
  });

  it('is forgotten with the next preflight that is fine', async (t) => {
    const { deps, lack, store } = someDependencies(t);
    await store.probe();
    assert.throws(() => deps.proveEnv(['REGATTA_SECRET_OTHER']));
    await store.probe();
    deps.proveEnv([]);
    assert.equal(lack(), undefined);
  });
});
