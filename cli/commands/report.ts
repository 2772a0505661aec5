import type { Command } from 'commander';
import { addExamples } from '../help.ts';
import { addReportFlags, type ReportFlags } from '../report-files.ts';
import type { Shell } from '../shell.ts';
import { addStoreFlag, type PlaceFlags } from '../sweep/sweep-flags.ts';

/** `regatta report ID`: the report of a stored sweep, on the terminal and in files; the exit code is the gate. */
export function registerReport(program: Command, shell: Shell): void {
  const command = program
    .command('report <id>')
    .description('Computes the report of a sweep from its store; exits with its gate.')
    .action((id: string, flags: PlaceFlags & ReportFlags) => report(shell, id, flags));
  addReportFlags(addStoreFlag(command), 'file');
  addExamples(command, [
    'report refund-desk-20260101-090000-1a2b',
    'report ID --json -',
    'report ID --junit out.xml --markdown report.md --csv runs.csv',
  ]);
}

async function report(shell: Shell, id: string, flags: PlaceFlags & ReportFlags): Promise<void> {
  const [files, { storeOf }, { readReport }, { summary }, { gateExit }] = await Promise.all([
    import('../report-files.ts'),
    import('../sweep/play.ts'),
    import('../sweep/read-report.ts'),
    import('../render/summary.ts'),
    import('../gate-exit.ts'),
  ]);
  files.proveReportFlags(shell, flags);
  const { report, runs } = await readReport(storeOf(shell, flags).store, id);
  if (!files.takesStdout(flags)) shell.stdout.write(summary(report, shell, runs));
  await files.writeReportFiles(shell, flags, report, runs);
  shell.exitCode = gateExit(report);
}
