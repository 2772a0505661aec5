import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** All that can change the bundle: the workflows, what they import, and the SDK that bundles them. */
const sources = ['workflows', 'domain'];

/**
 * The workflow code, bundled once for each state of its sources and kept in `cacheFolder`: bundling takes seconds,
 * reading milliseconds. Returns the path of the bundle.
 */
export async function workflowBundle(cacheFolder: string): Promise<string> {
  const path = join(cacheFolder, `workflows-${await sourcesHash()}.js`);
  if (await exists(path)) return path;
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const entry = fileURLToPath(
    new URL(`../workflows/index${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
  );
  const { code } = await bundleWorkflowCode({ workflowsPath: entry, logger: new DefaultLogger('ERROR') });
  await mkdir(cacheFolder, { recursive: true });
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, code);
  await rename(fresh, path);
  return path;
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
