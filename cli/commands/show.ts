import { type Command, Option } from 'commander';
import { type Outcome, outcomes } from '../../domain/outcome.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';
import { addStoreFlag, type PlaceFlags } from '../sweep/sweep-flags.ts';

type Flags = PlaceFlags & {
  readonly outcome?: Outcome;
  readonly verbose?: true;
  readonly debug?: true;
  readonly json?: true;
};

/** `regatta show RUN_ID`: one run's conversation with its checks and calls; of a sweep, its runs. */
export function registerShow(program: Command, shell: Shell): void {
  const command = program
    .command('show <id>')
    .description("Shows a run's conversation, checks and calls, or lists a sweep's runs.")
    .addOption(new Option('--outcome <outcome>', 'of a sweep, list only these runs').choices(outcomes))
    .option('--verbose', 'also the prompts')
    .option('--debug', 'also shard, writers and seed')
    .option('--json', 'print it as one object')
    .action((id: string, flags: Flags) =>
      id.includes('/') ? showRun(shell, id, flags) : showSweep(shell, id, flags),
    );
  addStoreFlag(command);
  addExamples(command, [
    'show refund-desk-20260101-090000-1a2b --outcome failed',
    'show refund-desk-20260101-090000-1a2b/angry-refund/1 --verbose',
    'show RUN_ID --json',
  ]);
}

async function showRun(shell: Shell, id: string, flags: Flags): Promise<void> {
  const [{ storeOf }, { readRun }, { runJson }, { formatRun }] = await Promise.all([
    import('../sweep/play.ts'),
    import('../sweep/read-run.ts'),
    import('../render/run-json.ts'),
    import('../render/run-text.ts'),
  ]);
  const stored = await readRun(storeOf(shell, flags).store, id, shell.now());
  if (flags.json) shell.stdout.write(`${JSON.stringify(runJson(stored))}\n`);
  else
    shell.stdout.write(formatRun(stored, { ...flags, columns: shell.columns, hasColour: shell.hasColour }));
}

async function showSweep(shell: Shell, id: string, flags: Flags): Promise<void> {
  const [
    { storeOf },
    { findSweep },
    { readPlayedRuns },
    { runLineJson },
    { formatRunList },
    { outcomeOfRun },
  ] = await Promise.all([
    import('../sweep/play.ts'),
    import('../sweep/find-sweep.ts'),
    import('../../domain/played-sweep.ts'),
    import('../render/run-json.ts'),
    import('../render/run-list.ts'),
    import('../../domain/scenario-row.ts'),
  ]);
  const { store } = storeOf(shell, flags);
  const runs = await readPlayedRuns(store, await findSweep(store, id));
  const { outcome } = flags;
  const chosen = outcome === undefined ? runs : runs.filter((run) => outcomeOfRun(run) === outcome);
  if (flags.json) {
    shell.stdout.write(`${JSON.stringify({ sweep: id, runs: chosen.map(runLineJson) })}\n`);
    return;
  }
  shell.stdout.write(formatRunList(chosen, shell));
  shell.stderr.write(`${chosen.length} of ${runs.length} runs; regatta show RUN_ID shows one\n`);
}
