import type { Store } from '../../activities/ports.ts';
import { createStore, resolveStore } from '../../adapters/store.ts';
import type { CheckSet } from '../../domain/check-set.ts';
import type { SweepRecord } from '../../domain/sweep-record.ts';
import { UsageError } from '../../domain/usage-error.ts';
import type { ConnectionFlags } from '../connection.ts';
import { CommandFailure } from '../exit-codes.ts';
import { createProgress, type Progress } from '../render/progress.ts';
import type { Shell } from '../shell.ts';
import { type EmbeddedWorker, startEmbeddedWorker } from './embedded-worker.ts';
import { followSweep } from './follow.ts';
import { inputOf, isRunning, type Launch, type Launched, restartSweep, startSweep } from './launch.ts';
import type { PlaceFlags } from './sweep-flags.ts';
import { openRunningTemporal, openTemporal, type Temporal } from './temporal.ts';

export type Playing = {
  readonly record: SweepRecord;
  readonly store: Store;
  readonly storeAddress: string;
  readonly flags: ConnectionFlags & {
    readonly ui?: boolean;
    readonly project?: string;
    readonly allowHost?: readonly string[];
  };
  /**
   * `once`: a sweep that has closed is left as it is. `again`: it goes on from its store. `retry`: its broken and
   * cancelled runs are played again too. `rejudge`: nothing is played, undecided checks are asked again, or others in
   * their place.
   */
  readonly how: 'once' | 'again' | 'retry' | 'rejudge';
  /** What the record's last check set is, where the store has it not yet: it is put there before the workflow starts. */
  readonly checkSet?: CheckSet;
  readonly concurrency?: number;
  readonly budgetUsd?: number;
};

/** The store of a command: `--store`, else `.regatta/sweeps` in the current folder. */
export function storeOf(
  shell: Shell,
  flags: PlaceFlags,
): { readonly store: Store; readonly address: string } {
  const address = resolveStore(shell.cwd, flags.store ?? '.regatta/sweeps');
  return { store: createStore(address), address };
}

/**
 * Plays a stored sweep until its workflow has closed, and shows how it goes. Where no Temporal was named, this process
 * is the fleet. The first Ctrl-C (or SIGTERM) drains and leaves the sweep to wait; the second leaves at once.
 * @throws CommandFailure (interrupted) when it was left.
 */
export async function playSweep(shell: Shell, playing: Playing): Promise<void> {
  const progress = createProgress(shell);
  const leaving = watchSignals(shell, progress);
  const temporal = await openTemporal(shell, playing.flags);
  // Both begin at once: the worker takes as long to start as the workflow takes to be there.
  const starting = temporal.embedded
    ? startEmbeddedWorker(workerOptions(shell, temporal, playing))
    : undefined;
  starting?.catch(() => {});
  try {
    const launched = await launch(temporal, playing);
    const worker = await starting;
    if (launched === 'running') await retune(temporal, playing);
    if (launched !== 'closed') {
      await follow({ temporal, record: playing.record, worker, progress, leave: leaving.signal });
    }
  } finally {
    const worker = await starting?.catch(() => undefined);
    await worker?.drain().catch(() => {});
    await temporal.close().catch(() => {});
    leaving.end();
  }
  if (leaving.signal.aborted) throw interrupted(playing.record, temporal);
}

async function launch(temporal: Temporal, { record, store, how, ...wishes }: Playing): Promise<Launched> {
  const place = { client: temporal.client, store, record };
  const input = inputOf(record, { ...wishes, retry: how === 'retry', rejudge: how === 'rejudge' });
  if (how === 'once') return startSweep(place, input);
  if (wishes.checkSet !== undefined) await putCheckSet(place, wishes.checkSet);
  const launched = await restartSweep(place, input);
  if (launched === 'running' && how !== 'again') throw stillLive(record.id, how);
  return launched;
}

/** A live sweep is judged by the checks that it was started with: only an ended one takes others. */
async function putCheckSet({ client, store, record }: Launch, checkSet: CheckSet): Promise<void> {
  if (await isRunning(client, record.id)) throw stillLive(record.id, 'rejudge');
  if (await store.putCheckSet(record.id, checkSet)) return;
  throw new UsageError({
    message: `somebody else has just given the sweep ${record.id} other checks`,
    hint: 'try again: these then follow those',
  });
}

function stillLive(sweep: string, how: string): UsageError {
  return new UsageError({
    message: `the sweep ${sweep} is live: ${how} takes up what an ended sweep left`,
    hint: `regatta watch ${sweep} shows when it has ended; regatta resume ${sweep} goes on with one that waits`,
  });
}

/** A live sweep takes the wishes of a command that attaches to it. */
async function retune(temporal: Temporal, { record, concurrency, budgetUsd }: Playing): Promise<void> {
  if (concurrency === undefined && budgetUsd === undefined) return;
  const change = {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
  };
  await temporal.client.workflow.getHandle(record.id).executeUpdate('retune', { args: [change] });
}

/**
 * Shows a live sweep until its workflow has closed; returns at once where none runs.
 * @throws CommandFailure (interrupted) when it was left, (unreachable) where no Temporal is.
 */
export async function watchSweep(shell: Shell, record: SweepRecord, flags: ConnectionFlags): Promise<void> {
  const progress = createProgress(shell);
  const leaving = watchSignals(shell, progress, 'leaving; the sweep goes on');
  const temporal = await openRunningTemporal(shell, flags);
  try {
    if (!(await isRunning(temporal.client, record.id))) return;
    await follow({ temporal, record, progress, leave: leaving.signal });
  } finally {
    await temporal.close();
    leaving.end();
  }
  if (leaving.signal.aborted)
    throw new CommandFailure('interrupted', 'left: the sweep goes on', `regatta watch ${record.id}`);
}

function workerOptions(shell: Shell, temporal: Temporal, { record, storeAddress, flags }: Playing) {
  return {
    shell,
    temporal,
    queue: record.queue,
    project: flags.project ?? record.created.project ?? shell.cwd,
    store: storeAddress,
    allowEnv: record.spec.env,
    allowHost: flags.allowHost ?? [],
    callMs: record.spec.timeouts.callMs,
  };
}

type Following = {
  readonly temporal: Temporal;
  readonly record: SweepRecord;
  readonly worker?: EmbeddedWorker | undefined;
  readonly progress: Progress;
  readonly leave: AbortSignal;
};

async function follow({ temporal, record, worker, progress, leave }: Following): Promise<void> {
  try {
    const followed = await Promise.race([
      followSweep(temporal.client, record.id, progress.show, leave),
      ...(worker === undefined ? [] : [worker.done.then(() => undefined)]),
    ]);
    if (followed?.kind === 'gone') {
      throw new CommandFailure(
        'halted',
        `the sweep's workflow did not end by itself: ${followed.reason}`,
        `regatta resume ${record.id}`,
      );
    }
  } finally {
    progress.end();
  }
}

function watchSignals(
  shell: Shell,
  progress: Progress,
  notice = 'stopping after the messages in flight; once more leaves at once',
) {
  const leave = new AbortController();
  const end = shell.onSignal(['SIGINT', 'SIGTERM'], () => {
    if (leave.signal.aborted) return shell.leave(130);
    progress.end();
    shell.stderr.write(`${shell.isTerminal ? '\n' : ''}${notice}\n`);
    leave.abort();
  });
  return { signal: leave.signal, end };
}

function interrupted(record: SweepRecord, temporal: Temporal): CommandFailure {
  const next = temporal.embedded ? `regatta resume ${record.id}` : `regatta watch ${record.id}`;
  const state = temporal.embedded ? 'the sweep waits' : 'the sweep goes on without this command';
  return new CommandFailure('interrupted', `left: ${state}`, next);
}
