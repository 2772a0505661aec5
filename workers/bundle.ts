import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** All that can change the bundle: the workflows, what they import, and the SDK that bundles them. */
const sources = ['workflows', 'domain'];

/** A build brings its bundle along; the sources of a checkout change under it. */
const isBuilt = import.meta.url.endsWith('.js');
const prebuilt = join(root, 'workflows-bundle.js');

/**
 * The workflow code: what the build bundled, else bundled once for each state of its sources and kept in
 * `cacheFolder`: bundling takes seconds, reading milliseconds. Returns the path of the bundle.
 */
export async function workflowBundle(cacheFolder: string): Promise<string> {
  if (isBuilt && (await exists(prebuilt))) return prebuilt;
  const path = join(cacheFolder, `workflows-${await sourcesHash()}.js`);
  if (await exists(path)) return path;
  await mkdir(cacheFolder, { recursive: true });
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, await bundleCode());
  await rename(fresh, path);
  return path;
}

/** Bundles the workflows of a build for good. */
export async function writeWorkflowBundle(): Promise<void> {
  await writeFile(prebuilt, await bundleCode());
}

async function bundleCode(): Promise<string> {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const entry = fileURLToPath(new URL(`../workflows/index${isBuilt ? '.js' : '.ts'}`, import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath: entry, logger: new DefaultLogger('ERROR') });
  return code;
}

async function sourcesHash(): Promise<string> {
  const hash = createHash('sha256');
  const { version } = JSON.parse(
    await readFile(new URL(import.meta.resolve('@temporalio/worker/package.json')), 'utf8'),
  );
  hash.update(version);
  for (const folder of sources) {
    const files = (await readdir(join(root, folder), { recursive: true }))
      .filter((file) => /\.[jt]s$/.test(file))
      .sort();
    for (const file of files) hash.update(`${file}\0`).update(await readFile(join(root, folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function exists(path: string): Promise<boolean> {
  try {
    await readFile(path, { flag: 'r' });
    return true;
  } catch {
    return false;
  }
}
