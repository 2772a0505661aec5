import type { Command } from 'commander';
import { addConnectionFlags, type ConnectionFlags } from '../connection.ts';
import { addExamples } from '../help.ts';
import { addReportFlags, proveReportFlags, type ReportFlags } from '../report-files.ts';
import type { Shell } from '../shell.ts';
import { addStoreFlag, type PlaceFlags } from '../sweep/sweep-flags.ts';

type Flags = ConnectionFlags & PlaceFlags & ReportFlags;

/** `regatta watch ID`: how a live sweep goes, until it has ended; then its report and its gate. */
export function registerWatch(program: Command, shell: Shell): void {
  const command = program
    .command('watch <id>')
    .description('Shows how a live sweep goes; exits with its gate.')
    .action((id: string, flags: Flags) => watch(shell, id, flags));
  addReportFlags(addStoreFlag(addConnectionFlags(command)));
  addExamples(command, [
    'watch refund-desk-20260101-090000-1a2b',
    'watch ID --junit out.xml',
    'watch ID --address temporal.internal:7233',
  ]);
}

async function watch(shell: Shell, id: string, flags: Flags): Promise<void> {
  proveReportFlags(shell, flags);
  const [{ storeOf, watchSweep }, { findSweep }, { tellReport }] = await Promise.all([
    import('../sweep/play.ts'),
    import('../sweep/find-sweep.ts'),
    import('../sweep/tell-report.ts'),
  ]);
  const { store } = storeOf(shell, flags);
  const record = await findSweep(store, id);
  await watchSweep(shell, record, flags);
  await tellReport(shell, store, record.id, flags);
}
