import type { Command } from 'commander';
import { addConnectionFlags, type ConnectionFlags } from '../connection.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';
import type { ListedSweep } from '../sweep/list-sweeps.ts';
import { addStoreFlag, type PlaceFlags } from '../sweep/sweep-flags.ts';
import type { Temporal } from '../sweep/temporal.ts';

type Flags = PlaceFlags & ConnectionFlags & { readonly json?: true };

/** `regatta list`: the sweeps of a store, the newest first. */
export function registerList(program: Command, shell: Shell): void {
  const command = program
    .command('list')
    .description('Lists the sweeps of a store, the newest first.')
    .option('--json', 'print them as one object')
    .action((flags: Flags) => list(shell, flags));
  addStoreFlag(addConnectionFlags(command));
  addExamples(command, ['list', 'list --store /mnt/sweeps', 'list --json | jq -r ".sweeps[0].id"']);
}

async function list(shell: Shell, flags: Flags): Promise<void> {
  const [{ storeOf }, { listSweeps }] = await Promise.all([
    import('../sweep/play.ts'),
    import('../sweep/list-sweeps.ts'),
  ]);
  const { store, address } = storeOf(shell, flags);
  const temporal = await temporalOrNone(shell, flags);
  try {
    const { sweeps, problems } = await listSweeps(store, temporal?.client);
    for (const problem of problems) shell.stderr.write(`warning: ${problem}\n`);
    if (flags.json) shell.stdout.write(`${JSON.stringify({ sweeps })}\n`);
    else if (sweeps.length === 0) shell.stderr.write(`no sweeps in ${address}\n`);
    else shell.stdout.write(await tableOf(shell, sweeps));
  } finally {
    await temporal?.close();
  }
}

/** A Temporal that is away takes nothing from the list but who plays right now. */
async function temporalOrNone(shell: Shell, flags: Flags): Promise<Temporal | undefined> {
  const [{ openRunningTemporal }, { describeFailure }, { namesTemporal }] = await Promise.all([
    import('../sweep/temporal.ts'),
    import('../exit-codes.ts'),
    import('../connection.ts'),
  ]);
  try {
    return await openRunningTemporal(shell, flags);
  } catch (error) {
    const { kind, message } = describeFailure(error);
    if (kind !== 'unreachable') throw error;
    if (namesTemporal(flags, shell.env))
      shell.stderr.write(`warning: ${message}; states are those of the store\n`);
    return undefined;
  }
}

async function tableOf(shell: Shell, sweeps: readonly ListedSweep[]): Promise<string> {
  const [{ table }, { createStyle, paintWord }, { count }] = await Promise.all([
    import('../render/table.ts'),
    import('../render/style.ts'),
    import('../render/numbers.ts'),
  ]);
  const style = createStyle(shell);
  const shape = [
    { head: 'sweep', widest: 100 },
    { head: 'state' },
    { head: 'gate', paint: (text: string) => paintWord(style, text) },
    { head: 'ended', align: 'right' },
    { head: 'started (UTC)' },
  ] as const;
  const rows = sweeps.map(({ id, state, gate, planned, ended, started }) => [
    id,
    state,
    gate ?? '',
    `${count(ended)}/${count(planned)}`,
    started.slice(0, 16).replace('T', ' '),
  ]);
  return table(shape, rows, { columns: shell.columns, indent: 0 })
    .map((line) => `${line}\n`)
    .join('');
}
