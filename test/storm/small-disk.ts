import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A disk of its own that can be filled to the last byte. */
export type SmallDisk = {
  readonly folder: string;
  fill(): void;
  free(): void;
  unmount(): void;
};

const piece = Buffer.alloc(2 ** 20);

/** Mounts one of so many MiB; undefined where this user may not. */
export function mountSmallDisk(folder: string, sizeMiB: number): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m`, 'tmpfs', folder]);
  if (mounted.status !== 0) return undefined;
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => appendUntilFull(filler),
    free: () => rmSync(filler, { force: true }),
    unmount: () => spawnSync('umount', ['-l', folder]),
  };
}

function appendUntilFull(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (;;) writeSync(file, piece);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    closeSync(file);
  }
}
