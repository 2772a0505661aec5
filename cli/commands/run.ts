import type { Command } from 'commander';
import { addExamples } from '../help.ts';
import { addReportFlags, proveReportFlags, type ReportFlags } from '../report-files.ts';
import type { Shell } from '../shell.ts';
import { addPlayFlags, type PlayFlags } from '../sweep/sweep-flags.ts';

export type RunFlags = PlayFlags & ReportFlags & { readonly watch?: boolean };

/** `regatta run FILE`: plan, start, watch, report; the exit code is the gate. */
export function registerRun(program: Command, shell: Shell): void {
  const command = program
    .command('run <file>')
    .description('Plays a sweep and reports; the exit code is the gate.')
    .option('--no-watch', 'show no progress')
    .action((file: string, flags: RunFlags) => run(shell, file, flags));
  addReportFlags(addPlayFlags(command));
  addExamples(command, [
    'run sweep.yaml',
    "run sweep.yaml --only 'refund-*' --repeats 5 --set driver.temperature=0.9",
    'run sweep.yaml --id "$CI_JOB_ID" --junit out.xml --markdown report.md',
  ]);
}

async function run(shell: Shell, file: string, flags: RunFlags): Promise<void> {
  proveReportFlags(shell, flags);
  const [
    { namesTemporal },
    { planFile, proveEnvironment },
    { planLine },
    { playSweep, storeOf },
    { storeSweep },
    { tellReport },
  ] = await Promise.all([
    import('../connection.ts'),
    import('../sweep/plan-sweep.ts'),
    import('../sweep/plan-text.ts'),
    import('../sweep/play.ts'),
    import('../sweep/launch.ts'),
    import('../sweep/tell-report.ts'),
  ]);
  const named = namesTemporal(flags, shell.env);
  const planned = await planFile(shell, file, flags, named);
  shell.stderr.write(`${planLine(planned)}\n`);
  for (const warning of planned.plan.warnings) shell.stderr.write(`warning: ${warning}\n`);
  if (!named) proveEnvironment(shell, planned.record);
  const { store, address } = storeOf(shell, flags);
  const { record } = await storeSweep(store, planned.record, planned.plan.shards);
  shell.stderr.write(`sweep ${record.id}\n`);
  await playSweep(shell, { record, store, storeAddress: address, flags, how: 'once' });
  await tellReport(shell, store, record.id, flags);
}
