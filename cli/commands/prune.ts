import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../domain/usage-error.ts';
import { durationMs } from '../../formats/durations.ts';
import { addConnectionFlags, type ConnectionFlags } from '../connection.ts';
import { wholeNumber } from '../flag-values.ts';
import { addExamples } from '../help.ts';
import type { Pruned } from '../prune/prune-sweeps.ts';
import type { Shell } from '../shell.ts';
import { addStoreFlag, type PlaceFlags } from '../sweep/sweep-flags.ts';

type Flags = PlaceFlags &
  ConnectionFlags & {
    /** Milliseconds. */
    readonly olderThan: number;
    readonly keep?: number;
    readonly unfinished?: true;
    readonly dryRun?: true;
    readonly yes?: true;
    readonly json?: true;
  };

/** `regatta prune --older-than 30d`: removes old sweeps from a store. */
export function registerPrune(program: Command, shell: Shell): void {
  const command = program
    .command('prune')
    .description('Removes the sweeps of a store that began long ago and have ended.')
    .requiredOption('--older-than <time>', 'how long ago they began: 12h, 30d', age)
    .option('--keep <n>', 'keep the newest so many, whatever their age', wholeNumber)
    .option('--unfinished', 'also those that have no report and that no workflow plays')
    .option('--dry-run', 'only show what would be removed')
    .option('--yes', 'ask nothing')
    .option('--json', 'print what was removed as one object')
    .action((flags: Flags) => prune(shell, flags));
  addStoreFlag(addConnectionFlags(command));
  addExamples(command, [
    'prune --older-than 30d --dry-run',
    'prune --older-than 30d --keep 20 --yes',
    'prune --older-than 90d --store s3://team-sweeps/desk --yes --json',
  ]);
}

// Seconds, which a number without a unit means elsewhere, are a slip of the pen here.
function age(text: string): number {
  const ms = /[a-z]$/.test(text) ? durationMs(text) : undefined;
  if (ms === undefined) throw new InvalidArgumentError('A time with its unit is needed: 12h, 30d.');
  return ms;
}

async function prune(shell: Shell, flags: Flags): Promise<void> {
  const [{ storeOf }, { findOldSweeps, removeOldSweeps }, { isRunning }] = await Promise.all([
    import('../sweep/play.ts'),
    import('../prune/prune-sweeps.ts'),
    import('../sweep/launch.ts'),
  ]);
  const { store, address } = storeOf(shell, flags);
  const temporal = await temporalAtHand(shell, flags);
  try {
    const client = temporal?.client;
    const wishes = {
      before: shell.now() - flags.olderThan,
      keep: flags.keep ?? 0,
      unfinished: flags.unfinished ?? false,
    };
    const { sweeps, problems } = await findOldSweeps(store, client, wishes);
    for (const problem of problems) shell.stderr.write(`warning: ${problem}\n`);
    if (!flags.json) shell.stdout.write(await tableOf(shell, sweeps));
    if (flags.dryRun || !(await isWanted(shell, flags, sweeps, address)))
      return tell(shell, flags, { removed: flags.dryRun ? sweeps : [], leftoverBytes: 0 });
    const isLive = async (id: string) => client !== undefined && (await isRunning(client, id));
    return tell(shell, flags, await removeOldSweeps(shell, store, sweeps, isLive));
  } finally {
    await temporal?.close();
  }
}

/** A Temporal that was named and is away is a failure: nobody knows which sweeps it plays. */
async function temporalAtHand(shell: Shell, flags: ConnectionFlags) {
  const [{ openRunningTemporal }, { CommandFailure }, { namesTemporal }] = await Promise.all([
    import('../sweep/temporal.ts'),
    import('../exit-codes.ts'),
    import('../connection.ts'),
  ]);
  try {
    return await openRunningTemporal(shell, flags);
  } catch (error) {
    if (error instanceof CommandFailure && !namesTemporal(flags, shell.env)) return undefined;
    throw error;
  }
}

type Old = Pruned['removed'];

/** Whether to go on: asks a person where there is something to remove. */
async function isWanted(shell: Shell, flags: Flags, sweeps: Old, address: string): Promise<boolean> {
  if (sweeps.length === 0 || flags.yes) return true;
  if (!shell.isTerminal) {
    throw new UsageError({
      message: `${sweeps.length} sweeps would be removed, and without a terminal nobody can be asked`,
      hint: '--yes asks nothing; --dry-run only shows them',
    });
  }
  const { bytes, countOf } = await import('../render/numbers.ts');
  const size = bytes(sweeps.reduce((total, sweep) => total + sweep.bytes, 0));
  shell.stderr.write(`Remove ${countOf(sweeps.length, 'sweep')} (${size}) from ${address}? [y/N] `);
  for await (const answer of shell.stdin) return /^y(es)?$/i.test(String(answer).trim());
  return false;
}

async function tableOf(shell: Shell, sweeps: Old): Promise<string> {
  if (sweeps.length === 0) return '';
  const [{ table }, { bytes }] = await Promise.all([
    import('../render/table.ts'),
    import('../render/numbers.ts'),
  ]);
  const shape = [
    { head: 'sweep', widest: 100 },
    { head: 'state' },
    { head: 'started (UTC)' },
    { head: 'size', align: 'right' },
  ] as const;
  const rows = sweeps.map(({ id, state, started, bytes: size }) => [
    id,
    state,
    started.slice(0, 16).replace('T', ' '),
    bytes(size),
  ]);
  return table(shape, rows, { columns: shell.columns, indent: 0 })
    .map((line) => `${line}\n`)
    .join('');
}

async function tell(shell: Shell, flags: Flags, { removed, leftoverBytes }: Pruned): Promise<void> {
  const freed = removed.reduce((total, { bytes }) => total + bytes, leftoverBytes);
  if (flags.json) {
    const object = {
      dry_run: flags.dryRun ?? false,
      removed,
      leftover_bytes: leftoverBytes,
      freed_bytes: freed,
    };
    shell.stdout.write(`${JSON.stringify(object)}\n`);
    return;
  }
  const { bytes, countOf } = await import('../render/numbers.ts');
  const what = `${countOf(removed.length, 'sweep')}, ${bytes(freed)}`;
  const leftovers = leftoverBytes > 0 ? `, ${bytes(leftoverBytes)} of it left by crashes` : '';
  shell.stderr.write(`${flags.dryRun ? 'would remove' : 'removed'} ${what}${leftovers}\n`);
}
