import type { Command } from 'commander';
import { addText } from '../flag-values.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';

type Flags = {
  readonly scenario?: string;
  readonly variant?: string;
  readonly message?: readonly string[];
  readonly set?: readonly string[];
  readonly target?: string;
  readonly project?: string;
  readonly allowHost?: readonly string[];
  readonly json?: true;
};

/** `regatta target test FILE`: tries the target of a sweep, without Temporal, store or driver. */
export function registerTarget(program: Command, shell: Shell): void {
  const target = program.command('target').description('Tries what a sweep tests.');
  const command = target
    .command('test <file>')
    .description('Sends a message to the target of a sweep, and shows each call.')
    .option('--message <text>', 'what to say; repeatable (default: as the driver would begin)', addText)
    .option('--scenario <id>', 'the scenario that fills in templates (default: the first)')
    .option('--variant <name>', 'which of several targets (default: the first)')
    .option('--target <file|url>', 'try this target instead')
    .option('--set <path=value>', 'change a value of the file; repeatable', addText)
    .option('--project <folder>', 'folder that modules come from')
    .option('--allow-host <host>', 'models and targets may be only at these hosts; repeatable', addText)
    .option('--json', 'print one object')
    .action((file: string, flags: Flags) => test(shell, file, flags));
  command.addHelpText(
    'after',
    '\nExit 0: a reply was read. Exit 3: the target did not answer as the file says.',
  );
  addExamples(command, [
    'target test sweep.yaml',
    "target test sweep.yaml --message 'Where is my order?' --message 'And now?'",
    'target test sweep.yaml --scenario angry-refund --variant new --json',
  ]);
}

async function test(shell: Shell, file: string, flags: Flags): Promise<void> {
  const [
    { readSweep },
    { proveEnvironment },
    { chooseDryRun },
    { shownRun },
    { dryRunText },
    { CommandFailure, exitCodes },
    { regattaVersion },
    { dryRun },
  ] = await Promise.all([
    import('../sweep/read-sweep.ts'),
    import('../sweep/plan-sweep.ts'),
    import('../target/choose.ts'),
    import('../target/shown-run.ts'),
    import('../target/run-text.ts'),
    import('../exit-codes.ts'),
    import('../version.ts'),
    import('../../workers/dry-run.ts'),
  ]);
  const read = await readSweep(shell, file, flags);
  const chosen = chooseDryRun(read, flags);
  proveEnvironment(shell, { spec: { env: chosen.env } });
  const leave = new AbortController();
  const endWatch = shell.onSignal(['SIGINT', 'SIGTERM'], () => {
    if (leave.signal.aborted) shell.leave(exitCodes.interrupted);
    leave.abort();
  });
  try {
    const run = await dryRun({
      ...chosen,
      spec: read.spec,
      project: read.project,
      env: shell.env,
      allowEnv: chosen.env,
      allowHost: flags.allowHost ?? [],
      log: (text) => shell.stderr.write(text),
      version: regattaVersion(),
      signal: leave.signal,
    });
    const shown = shownRun(chosen, run);
    shell.stdout.write(flags.json ? `${JSON.stringify(shown)}\n` : dryRunText(shown, shell));
    if (leave.signal.aborted) throw new CommandFailure('interrupted', 'left: the session was closed');
    shell.exitCode = shown.ok ? exitCodes.done : exitCodes.gateShut;
  } finally {
    endWatch();
  }
}
