import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { inStore, listNames, sync, unlessMissing } from './files.ts';
import { mapParallel } from './parallel.ts';
import { sweepFolder } from './paths.ts';
import { listSweeps } from './sweeps.ts';

const filesAtOnce = 16;

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** Sweeps that are being created or removed, and probes. */
const temporaryInStore = new RegExp(`^\\.(?:probe-)?${uuid}`);
/** Files that are being written. */
const temporaryFile = new RegExp(`\\.${uuid}\\.tmp$`);

/** How many bytes the files of a sweep hold. */
export async function sizeOfSweep(store: string, sweep: string): Promise<number> {
  const folder = sweepFolder(store, sweep);
  return inStore(folder, () => sizeOf(folder));
}

/** Removes a sweep: it is gone under its name at once, so that a crash leaves nothing that looks like a sweep. */
export async function removeSweep(store: string, sweep: string): Promise<void> {
  const folder = sweepFolder(store, sweep);
  const temporary = join(store, `.${randomUUID()}.tmp`);
  await inStore(folder, async () => {
    await unlessMissing(rename(folder, temporary));
    await rm(temporary, { recursive: true, force: true });
    await unlessMissing(sync(store));
  });
}

/** Removes what crashed writers and removals left before a time (epoch milliseconds); returns the bytes it held. */
export async function removeLeftovers(store: string, before: number): Promise<number> {
  const inRoot = (await listNames(store)).filter((name) => temporaryInStore.test(name));
  const inSweeps: string[] = [];
  for (const sweep of await listSweeps(store)) {
    const files = await inStore(store, () => filesBelow(sweepFolder(store, sweep)));
    inSweeps.push(...files.filter((file) => temporaryFile.test(file)));
  }
  const sizes = await mapParallel(
    [...inRoot.map((name) => join(store, name)), ...inSweeps],
    filesAtOnce,
    (path) => inStore(path, () => removeOlder(path, before)),
  );
  return sum(sizes);
}

async function removeOlder(path: string, before: number): Promise<number> {
  const found = await unlessMissing(stat(path));
  if (found === undefined || found.mtimeMs >= before) return 0;
  const size = found.isDirectory() ? await sizeOf(path) : found.size;
  await rm(path, { recursive: true, force: true });
  return size;
}

async function sizeOf(folder: string): Promise<number> {
  const sizes = await mapParallel(
    await filesBelow(folder),
    filesAtOnce,
    async (file) => (await unlessMissing(stat(file)))?.size ?? 0,
  );
  return sum(sizes);
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = (await unlessMissing(readdir(folder, { recursive: true, withFileTypes: true }))) ?? [];
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
