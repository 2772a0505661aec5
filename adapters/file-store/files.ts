import { randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault } from '../../domain/fault.ts';
import type { SyncFolders } from './folder-sync.ts';

/**
 * Does `work` on `path`; whatever the operating system refuses becomes `Fault` store_unavailable, which names the
 * path. Every other error goes through as it is.
 */
export async function inStore<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw storeUnavailable(path, error.message, error);
  }
}

export function storeUnavailable(path: string, reason: string, cause?: unknown): Fault {
  return new Fault('store_unavailable', `the store is unavailable at ${path}: ${reason}`, {
    blame: 'infrastructure',
    endpoint: path,
    cause,
  });
}

/** The text of a file, or undefined where there is none. */
export async function readText(path: string): Promise<string | undefined> {
  return inStore(path, () => unlessMissing(readFile(path, 'utf8')));
}

/** The names in a folder; none where it does not exist. */
export async function listNames(folder: string): Promise<readonly string[]> {
  return inStore(folder, async () => (await unlessMissing(readdir(folder))) ?? []);
}

/**
 * Writes a file that must not exist, whole or not at all, and waits until it and its folders up to `top` are on the
 * disk: false where there was one already.
 */
export async function putNew(
  path: string,
  text: string,
  top: string,
  syncUpTo: SyncFolders = syncFolders,
): Promise<boolean> {
  return inStore(path, () =>
    throughTemporary({ path, text, top, syncUpTo }, (temporary) => linkNew(temporary, path)),
  );
}

/** Like `putNew`, but takes the place of the file that is there: readers see either the old or the new one. */
export async function replace(path: string, text: string, top: string): Promise<void> {
  const whole = { path, text, top, syncUpTo: syncFolders };
  await inStore(path, () => throughTemporary(whole, (temporary) => rename(temporary, path)));
}

/** Makes the folder where it is missing, writes a new file in it and waits until its content is on the disk. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await openNew(path, 'wx');
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Opens a file that must not exist; makes its folder only where that turns out to be missing. */
export async function openNew(path: string, flags: 'wx' | 'ax'): Promise<FileHandle> {
  const handle = await unlessMissing(open(path, flags));
  if (handle !== undefined) return handle;
  await makeFolder(dirname(path));
  return open(path, flags);
}

/** Makes a folder and those above it. (Node's recursive `mkdir` reports a read-only disk as a missing file.) */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await makeOne(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await makeFolder(dirname(folder));
    await makeOne(folder);
  }
}

async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** Waits until the file's content, or the folder's names, are on the disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Waits until the names in `folder`, and in each folder above it up to `top`, are on the disk. */
export async function syncFolders(folder: string, top: string): Promise<void> {
  await sync(folder);
  if (folder !== top) await syncFolders(dirname(folder), top);
}

/** Whether the operating system refused with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return isSystemError(error) && codes.includes(error.code ?? '');
}

type WholeFile = {
  readonly path: string;
  readonly text: string;
  readonly top: string;
  readonly syncUpTo: SyncFolders;
};

async function throughTemporary<Result>(
  { path, text, top, syncUpTo }: WholeFile,
  publish: (temporary: string) => Promise<Result>,
): Promise<Result> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeDurably(temporary, text);
    const published = await publish(temporary);
    await syncUpTo(dirname(path), top);
    return published;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function linkNew(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** The result, or undefined where the file or folder does not exist. */
export async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
