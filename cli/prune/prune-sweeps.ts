import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { Store } from '../../activities/ports.ts';
import type { Shell } from '../shell.ts';
import { type ListedState, listSweeps } from '../sweep/list-sweeps.ts';

/** A sweep that may go, in the shape in which it is printed. */
export type OldSweep = {
  readonly id: string;
  readonly state: ListedState;
  /** ISO 8601, UTC. */
  readonly started: string;
  readonly bytes: number;
};

export type Pruned = {
  readonly removed: readonly OldSweep[];
  /** What crashed writers and removals had left. */
  readonly leftoverBytes: number;
};

export type PruneWishes = {
  /** Only sweeps that began before: epoch milliseconds. */
  readonly before: number;
  /** How many of the newest stay. */
  readonly keep: number;
  /** Also sweeps without a report. */
  readonly unfinished: boolean;
};

const dayMs = 86_400_000;

/** The sweeps of a store that may be removed, the newest first; none whose workflow is open. */
export async function findOldSweeps(
  store: Store,
  client: Client | undefined,
  { before, keep, unfinished }: PruneWishes,
): Promise<{ readonly sweeps: readonly OldSweep[]; readonly problems: readonly string[] }> {
  const { sweeps, problems } = await listSweeps(store, client);
  const mayGo: readonly ListedState[] = [
    'ended',
    'halted',
    'cancelled',
    ...(unfinished ? (['interrupted'] as const) : []),
  ];
  const old = sweeps
    .slice(keep)
    .filter(({ state, started }) => mayGo.includes(state) && Date.parse(started) < before);
  const sized: OldSweep[] = [];
  for (const { id, state, started } of old)
    sized.push({ id, state, started, bytes: await store.sizeOfSweep(id) });
  return { sweeps: sized, problems };
}

/** Removes sweeps, their logs, and what crashes left more than a day ago. A sweep that has become live stays. */
export async function removeOldSweeps(
  shell: Shell,
  store: Store,
  sweeps: readonly OldSweep[],
  isLive: (id: string) => Promise<boolean>,
): Promise<Pruned> {
  const removed: OldSweep[] = [];
  for (const sweep of sweeps) {
    if (await isLive(sweep.id)) {
      shell.stderr.write(`warning: ${sweep.id} has become live and stays\n`);
      continue;
    }
    await store.removeSweep(sweep.id);
    // Written by a `start` in this folder.
    await rm(join(shell.cwd, '.regatta', `${sweep.id}.log`), { force: true });
    removed.push(sweep);
  }
  return { removed, leftoverBytes: await store.removeLeftovers(shell.now() - dayMs) };
}
