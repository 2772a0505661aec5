import type { Store } from '../../activities/ports.ts';
import { gateExit } from '../gate-exit.ts';
import { summary } from '../render/summary.ts';
import { type ReportFlags, writeReportFiles } from '../report-files.ts';
import type { Shell } from '../shell.ts';
import { readReport } from './read-report.ts';

/** Ends a command that played or watched a sweep: the report on the terminal and in files, the gate as the exit code. */
export async function tellReport(
  shell: Shell,
  store: Store,
  sweep: string,
  flags: ReportFlags,
): Promise<void> {
  const { report, runs } = await readReport(store, sweep);
  shell.exitCode = gateExit(report);
  shell.stderr.write(summary(report, shell, runs));
  await writeReportFiles(shell, flags, report, runs);
}
