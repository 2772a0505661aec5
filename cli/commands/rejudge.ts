import type { Command } from 'commander';
import type { Store } from '../../activities/ports.ts';
import { type CheckSet, withCheckSets } from '../../domain/check-set.ts';
import type { SweepRecord } from '../../domain/sweep-record.ts';
import { addExamples } from '../help.ts';
import { proveReportFlags } from '../report-files.ts';
import type { Shell } from '../shell.ts';
import { addGoingOnFlags, type GoingOnFlags, wishesOf } from './resume.ts';

type Flags = GoingOnFlags & { readonly checks?: string };

/** `regatta rejudge ID`: asks undecided checks again, or other checks instead; no conversation is played. */
export function registerRejudge(program: Command, shell: Shell): void {
  const command = program
    .command('rejudge <id>')
    .description('Asks undecided checks of a sweep again, or others; plays nothing.')
    .option('--checks <file>', 'checks, thresholds and models that judge from now on')
    .action((id: string, flags: Flags) => rejudge(shell, id, flags));
  addGoingOnFlags(command);
  addExamples(command, [
    'rejudge refund-desk-20260101-090000-1a2b',
    'rejudge ID --checks checks.yaml',
    'rejudge ID --checks checks.yaml --budget 50 --junit out.xml',
  ]);
}

async function rejudge(shell: Shell, id: string, flags: Flags): Promise<void> {
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
  const known = await findSweep(store, id);
  const checkSet = await freshCheckSet(shell, store, known, flags);
  const record =
    checkSet === undefined ? known : withCheckSets(known, [...(known.checkSets ?? []), checkSet]);
  const { env } = record.checkSets?.at(-1) ?? record.spec;
  if (!namesTemporal(flags, shell.env)) proveEnvironment(shell, { spec: { env } });
  await playSweep(shell, {
    ...{ record, store, storeAddress: address, flags, how: 'rejudge' },
    ...wishesOf(flags),
    ...(checkSet === undefined ? {} : { checkSet }),
  });
  await tellReport(shell, store, record.id, flags);
}

/** What `--checks` names, unless the sweep is judged by it already: then an interrupted rejudging goes on. */
async function freshCheckSet(
  shell: Shell,
  store: Store,
  record: SweepRecord,
  { checks: file, project }: Flags,
): Promise<CheckSet | undefined> {
  if (file === undefined) return undefined;
  const { planCheckSet } = await import('../rejudge/plan-check-set.ts');
  return planCheckSet(shell, store, record, { file, project });
}
