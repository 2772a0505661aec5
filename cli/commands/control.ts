import type { Command } from 'commander';
import { UsageError } from '../../domain/usage-error.ts';
import type { SweepProgress } from '../../workflows/messages.ts';
import { addConnectionFlags, type ConnectionFlags } from '../connection.ts';
import { CommandFailure } from '../exit-codes.ts';
import { decimalNumber, wholeNumber } from '../flag-values.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';

type Flags = ConnectionFlags & { readonly json?: boolean };
type RetuneFlags = Flags & { readonly concurrency?: number; readonly budget?: number };

/** `regatta pause|continue|cancel|retune ID`: control of a live sweep. */
export function registerControl(program: Command, shell: Shell): void {
  control(program, 'pause', 'Stops a live sweep after the messages in flight.', (id, flags: Flags) =>
    update(shell, id, flags, 'pause'),
  );
  control(program, 'continue', 'Goes on with a paused sweep.', (id, flags: Flags) =>
    update(shell, id, flags, 'continue'),
  );
  control(
    program,
    'cancel',
    'Ends a live sweep: open runs are cancelled, sessions closed, a report written.',
    (id, flags: Flags) => cancel(shell, id, flags),
  );
  const retune = control(
    program,
    'retune',
    'Changes window and budget of a live sweep.',
    (id, flags: RetuneFlags) => tune(shell, id, flags),
  );
  retune
    .option('--concurrency <n>', 'how many runs are open at once', wholeNumber)
    .option('--budget <usd>', 'what the sweep may cost in all', decimalNumber);
}

function control<F>(
  program: Command,
  name: string,
  description: string,
  act: (id: string, flags: F) => Promise<void>,
): Command {
  const command = program
    .command(`${name} <id>`)
    .description(description)
    .option('--json', 'print how the sweep stands as one object')
    .action((id: string, flags: F) => act(id, flags));
  addConnectionFlags(command);
  const more = name === 'retune' ? ' --concurrency 20' : '';
  return addExamples(command, [
    `${name} ID${more}`,
    `${name} ID${more} --json`,
    `${name} ID${more} --address temporal.internal:7233`,
  ]);
}

async function update(shell: Shell, id: string, flags: Flags, name: 'pause' | 'continue'): Promise<void> {
  await withSweep(shell, id, flags, async (sweep) => {
    await proveAttended(shell, sweep);
    tell(shell, flags, id, await sweep.handle.executeUpdate<SweepProgress, []>(name));
  });
}

async function tune(shell: Shell, id: string, flags: RetuneFlags): Promise<void> {
  const { concurrency, budget } = flags;
  if (concurrency === undefined && budget === undefined) {
    throw new UsageError({ message: 'nothing to change', hint: 'give --concurrency, --budget or both' });
  }
  const change = {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(budget === undefined ? {} : { budgetUsd: budget }),
  };
  await withSweep(shell, id, flags, async (sweep) => {
    await proveAttended(shell, sweep);
    const asked = sweep.handle.executeUpdate<SweepProgress, [typeof change]>('retune', { args: [change] });
    tell(shell, flags, id, await asked);
  });
}

async function cancel(shell: Shell, id: string, flags: Flags): Promise<void> {
  await withSweep(shell, id, flags, async ({ handle }) => {
    await handle.cancel();
    if (flags.json) shell.stdout.write(`${JSON.stringify({ sweep: id, state: 'cancelling' })}\n`);
    else shell.stderr.write(`cancelling ${id}; regatta watch ${id} shows when it is done\n`);
  });
}

type Live = {
  readonly id: string;
  readonly client: import('@temporalio/client').Client;
  readonly handle: import('@temporalio/client').WorkflowHandle;
};

/** A worker that has to read a long history first needs a while. */
const answerLimitMs = 15_000;

/** A change that nobody takes would wait for the next worker, and surprise whoever started that. */
async function proveAttended(shell: Shell, { id, client, handle }: Live): Promise<void> {
  try {
    await client.connection.withDeadline(shell.now() + answerLimitMs, () => handle.query('progress'));
  } catch {
    throw new CommandFailure(
      'unreachable',
      `no worker answers for ${id}`,
      `start one, or play on here: regatta resume ${id}`,
    );
  }
}

/** Works with a live sweep; a server that would have to be started has none. */
async function withSweep(
  shell: Shell,
  id: string,
  flags: Flags,
  work: (sweep: Live) => Promise<void>,
): Promise<void> {
  const { openRunningTemporal } = await import('../sweep/temporal.ts');
  const { WorkflowNotFoundError } = await import('@temporalio/client');
  const temporal = await openRunningTemporal(shell, flags);
  try {
    const handle = temporal.client.workflow.getHandle(id);
    // Temporal takes a cancellation of what has closed already without a word.
    if ((await handle.describe()).status.name !== 'RUNNING') throw notLive(id);
    await work({ id, client: temporal.client, handle });
  } catch (error) {
    throw error instanceof WorkflowNotFoundError ? notLive(id) : error;
  } finally {
    await temporal.close();
  }
}

function notLive(id: string): UsageError {
  return new UsageError({
    message: `no sweep ${id} is live`,
    hint: `regatta list; regatta resume ${id} goes on with one that waits`,
  });
}

function tell(shell: Shell, flags: Flags, id: string, progress: SweepProgress): void {
  if (flags.json) shell.stdout.write(`${JSON.stringify({ sweep: id, ...progress })}\n`);
  else shell.stderr.write(`${id}: ${progress.state}, window ${progress.window}, ${progress.open} open\n`);
}
