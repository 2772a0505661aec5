import type { Command } from 'commander';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';
import { addPlayFlags, type PlayFlags } from '../sweep/sweep-flags.ts';

type Flags = PlayFlags & { readonly json?: boolean };

/** `regatta start FILE`: the same as run, detached: prints the sweep's id. */
export function registerStart(program: Command, shell: Shell): void {
  const command = program
    .command('start <file>')
    .description('Starts a sweep, prints its id and returns.')
    .option('--json', 'print one object')
    .action((file: string, flags: Flags) => start(shell, file, flags));
  addPlayFlags(command);
  addExamples(command, [
    'start sweep.yaml',
    'watch "$(regatta start sweep.yaml)"',
    'start sweep.yaml --address temporal.internal:7233',
  ]);
}

async function start(shell: Shell, file: string, flags: Flags): Promise<void> {
  const [
    { namesTemporal },
    { planFile, proveEnvironment },
    { planLine },
    { storeOf },
    { inputOf, startSweep, storeSweep },
  ] = await Promise.all([
    import('../connection.ts'),
    import('../sweep/plan-sweep.ts'),
    import('../sweep/plan-text.ts'),
    import('../sweep/play.ts'),
    import('../sweep/launch.ts'),
  ]);
  const named = namesTemporal(flags, shell.env);
  const planned = await planFile(shell, file, flags, named);
  shell.stderr.write(`${planLine(planned)}\n`);
  for (const warning of planned.plan.warnings) shell.stderr.write(`warning: ${warning}\n`);
  if (!named) proveEnvironment(shell, planned.record);
  const { store, address } = storeOf(shell, flags);
  const { record } = await storeSweep(store, planned.record, planned.plan.shards);
  if (named) {
    const { openTemporal } = await import('../sweep/temporal.ts');
    const temporal = await openTemporal(shell, flags);
    try {
      await startSweep({ client: temporal.client, store, record }, inputOf(record, { retry: false }));
    } finally {
      await temporal.close();
    }
  } else {
    const { attendInBackground } = await import('../sweep/background.ts');
    await attendInBackground(shell, record.id, address, flags);
  }
  shell.stdout.write(flags.json ? `${JSON.stringify({ sweep: record.id })}\n` : `${record.id}\n`);
}

/** `regatta attend ID` (hidden): the fleet of a detached sweep; leaves with its end. */
export function registerAttend(program: Command, shell: Shell): void {
  const command = program
    .command('attend <id>', { hidden: true })
    .description('Plays a stored sweep in this process until it has ended.')
    .action((id: string, flags: PlayFlags) => attend(shell, id, flags));
  addPlayFlags(command);
}

async function attend(shell: Shell, id: string, flags: PlayFlags): Promise<void> {
  const [{ playSweep, storeOf }, { findSweep }] = await Promise.all([
    import('../sweep/play.ts'),
    import('../sweep/find-sweep.ts'),
  ]);
  const { store, address } = storeOf(shell, flags);
  const record = await findSweep(store, id);
  await playSweep(shell, { record, store, storeAddress: address, flags, how: 'once' });
}
