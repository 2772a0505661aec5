import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../test-files.ts';

type Locked = {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
};
type Lock = { readonly packages: Readonly<Record<string, Locked>> };
type Manifest = Readonly<
  Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>
>;

const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const toolchain: Manifest = JSON.parse(readFileSync(join(root, 'toolchain/package.json'), 'utf8'));
/** What comes from elsewhere: neither the checkout's own packages nor links to them. */
const installed = Object.entries(lock.packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && link !== true,
);

describe('dependencies', () => {
  it('have one version of all Temporal packages', () => {
    const versions = installed
      .filter(([path]) => /node_modules\/@temporalio\/[^/]+$/.test(path))
      .map(([, { version }]) => version);
    assert.ok(versions.length >= 8, `only ${versions.length} packages`);
    assert.deepEqual([...new Set(versions)], [manifest.dependencies['@temporalio/worker']]);
  });

  it('are each pinned to exactly one version', () => {
    const { dependencies, devDependencies } = manifest;
    const { optionalDependencies } = toolchain;
    const loose = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${name}: ${version}`);
    assert.deepEqual(loose, []);
  });

  it('are locked by content and not by the registry that they once came from', () => {
    assert.deepEqual(
      installed.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path),
      [],
    );
    assert.deepEqual(
      installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path),
      [],
    );
  });
});
