import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { workflowBundle } from '../../workers/bundle.ts';

let folder: string;
let code: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regatta-bundle-'));
  code = await readFile(await workflowBundle(folder), 'utf8');
});

after(() => rm(folder, { recursive: true, force: true }));

/** The files in the bundle: webpack names each one above its text. */
const files = () => [...code.matchAll(/^\/\*\*\*\/ "(?:\.\/)?([^"]+)":?/gm)].map(([, name]) => name ?? '');
const ownFiles = () => files().filter((name) => !name.includes('node_modules'));

describe('the workflow bundle', () => {
  it('holds the workflows and what they decide with', () => {
    assert.ok(
      ownFiles().some((name) => name.endsWith('workflows/sweep.ts')),
      files().join('\n'),
    );
    assert.ok(ownFiles().some((name) => name.includes('domain/')));
  });

  it('holds no file of another folder than workflows and domain', () => {
    assert.deepEqual(
      ownFiles().filter((name) => /(^|\/)(activities|adapters|formats|workers|cli|practice)\//.test(name)),
      [],
    );
  });

  it('holds no package but Temporal and what it brings along', () => {
    const packages = new Set(
      files().flatMap((name) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(name)?.[1] ?? []),
    );
    const wrong = [...packages].filter(
      (name) => !name.startsWith('@temporalio/') && !broughtAlong.includes(name),
    );
    assert.deepEqual(wrong, []);
  });

  it('asks for no module of Node', () => {
    const asked = [...code.matchAll(/\brequire\(\\?["']([^"'\\]+)\\?["']\)/g)].map(([, name]) => name ?? '');
    assert.deepEqual(asked.filter(isBuiltin), []);
  });

  it('is smaller than 2 MiB', () => {
    assert.ok(code.length < 2 * 2 ** 20, `${(code.length / 2 ** 20).toFixed(2)} MiB`);
  });
});

/** Packages that Temporal's workflow code uses itself. */
const broughtAlong: readonly string[] = ['long', 'ms', 'nexus-rpc'];
