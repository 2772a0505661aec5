import type { Command } from 'commander';
import { addConnectionFlags, type ConnectionFlags } from '../connection.ts';
import { decimalNumber, wholeNumber } from '../flag-values.ts';
import { addExamples } from '../help.ts';
import { addReportFlags, proveReportFlags, type ReportFlags } from '../report-files.ts';
import type { Shell } from '../shell.ts';
import { addStoreFlag, type PlaceFlags } from '../sweep/sweep-flags.ts';

export type GoingOnFlags = ConnectionFlags &
  PlaceFlags &
  ReportFlags & { readonly concurrency?: number; readonly budget?: number; readonly project?: string };

/** `regatta resume ID`: attaches, or goes on from the store. */
export function registerResume(program: Command, shell: Shell): void {
  const command = program
    .command('resume <id>')
    .description('Goes on with a sweep at the next message, and exits with its gate.')
    .action((id: string, flags: GoingOnFlags) => goOn(shell, id, flags, 'again'));
  addGoingOnFlags(command);
  addExamples(command, [
    'resume refund-desk-20260101-090000-1a2b',
    'resume ID --budget 50',
    'resume ID --junit out.xml',
  ]);
}

/** `regatta retry ID`: plays broken, cancelled and unplayed runs again inside the same sweep. */
export function registerRetry(program: Command, shell: Shell): void {
  const command = program
    .command('retry <id>')
    .description('Plays the broken, cancelled and unplayed runs of a sweep again.')
    .action((id: string, flags: GoingOnFlags) => goOn(shell, id, flags, 'retry'));
  addGoingOnFlags(command);
  addExamples(command, [
    'retry refund-desk-20260101-090000-1a2b',
    'retry ID --concurrency 10',
    'retry ID --junit out.xml',
  ]);
}

/** Adds the flags of the commands that go on with a stored sweep. */
export function addGoingOnFlags(command: Command): void {
  command
    .option('--concurrency <n>', 'how many runs are open at once from now on', wholeNumber)
    .option('--budget <usd>', 'what the sweep may cost in all from now on', decimalNumber)
    .option('--project <folder>', 'folder that modules come from');
  addReportFlags(addStoreFlag(addConnectionFlags(command)));
}

async function goOn(shell: Shell, id: string, flags: GoingOnFlags, how: 'again' | 'retry'): Promise<void> {
  proveReportFlags(shell, flags);
  const [{ namesTemporal }, { proveEnvironment }, { playSweep, storeOf }, { findSweep }, { tellReport }] =
    await Promise.all([
      import('../connection.ts'),
      import('../sweep/plan-sweep.ts'),
      import('../sweep/play.ts'),
      import('../sweep/find-sweep.ts'),
      import('../sweep/tell-report.ts'),
    ]);
  const { store, address } = storeOf(shell, flags);
  const record = await findSweep(store, id);
  if (!namesTemporal(flags, shell.env)) proveEnvironment(shell, record);
  await playSweep(shell, { ...{ record, store, storeAddress: address, flags, how }, ...wishesOf(flags) });
  await tellReport(shell, store, record.id, flags);
}

/** Window and budget from now on, where they were given. */
export function wishesOf({ concurrency, budget }: GoingOnFlags) {
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(budget === undefined ? {} : { budgetUsd: budget }),
  };
}
