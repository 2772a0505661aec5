import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailure } from '../exit-codes.ts';

/**
 * Runs `work` while no other process, and nobody else in this one, runs work under the same file.
 * The lock is SQLite's own on an empty database file: the kernel frees it with its process, so that it is never stale.
 * @throws CommandFailure when another holder keeps it for `limitMs` (default 3 min: a download fits into it).
 */
export async function withLock<T>(file: string, work: () => Promise<T>, limitMs = 180_000): Promise<T> {
  const database = await lock(file, limitMs);
  try {
    return await work();
  } finally {
    database.close();
  }
}

async function lock(file: string, limitMs: number): Promise<DatabaseSync> {
  const stepMs = 25;
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += stepMs) {
    const database = new DatabaseSync(file, { timeout: 0 });
    if (tryLock(database)) return database;
    database.close();
    await sleep(stepMs);
  }
  throw new CommandFailure(
    'unreachable',
    `another process starts or stops the Temporal server and holds ${file}`,
  );
}

const sqliteBusy = 5;

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return false;
    throw error;
  }
}
