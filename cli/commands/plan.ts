import type { Command } from 'commander';
import { addConnectionFlags, namesTemporal } from '../connection.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';
import { addSelectionFlags, type PlayFlags } from '../sweep/sweep-flags.ts';

type Flags = PlayFlags & { readonly json?: boolean };

/** `regatta plan FILE`: what a sweep will take; touches nothing. */
export function registerPlan(program: Command, shell: Shell): void {
  const command = program
    .command('plan <file>')
    .description('Says what a sweep will play and about what it costs; touches nothing.')
    .option('--json', 'print one object')
    .option('--verbose', 'print the sweep with all defaults filled in')
    .action((file: string, flags: Flags) => plan(shell, file, flags));
  addConnectionFlags(addSelectionFlags(command));
  addExamples(command, [
    'plan sweep.yaml',
    'plan sweep.yaml --verbose',
    'plan sweep.yaml --tag refund --repeats 10',
  ]);
}

async function plan(shell: Shell, file: string, flags: Flags): Promise<void> {
  const [{ planFile }, { planLine }] = await Promise.all([
    import('../sweep/plan-sweep.ts'),
    import('../sweep/plan-text.ts'),
  ]);
  const planned = await planFile(shell, file, flags, namesTemporal(flags, shell.env));
  const { scenarios, variants, runs, inline, estimate, warnings } = planned.plan;
  const { spec } = planned.record;
  const unset = spec.env.filter((name) => !shell.env[name]);
  if (flags.json) {
    const object = {
      scenarios,
      variants,
      runs,
      inline,
      window: spec.concurrency,
      estimate,
      warnings,
      env: spec.env,
      unset,
    };
    shell.stdout.write(`${JSON.stringify(flags.verbose ? { ...object, spec } : object)}\n`);
    return;
  }
  shell.stdout.write(`${planLine(planned)}\n`);
  for (const warning of warnings) shell.stdout.write(`warning: ${warning}\n`);
  for (const name of unset) shell.stdout.write(`warning: the environment variable ${name} is not set\n`);
  if (flags.verbose) shell.stdout.write(`${JSON.stringify(spec, null, 2)}\n`);
}
