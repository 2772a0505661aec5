import type { Command } from 'commander';
import { type Mistake, UsageError } from '../../domain/usage-error.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';

type Flags = { readonly json?: boolean; readonly project?: string };

/** `regatta validate FILE...`: all mistakes of all files at once. */
export function registerValidate(program: Command, shell: Shell): void {
  const command = program
    .command('validate <files...>')
    .description('Checks sweep files and lists every mistake with its place.')
    .option('--json', 'print one object')
    .option('--project <folder>', 'folder that modules come from')
    .action((files: readonly string[], flags: Flags) => validate(shell, files, flags));
  addExamples(command, ['validate sweep.yaml', 'validate sweeps/*.yaml', 'validate sweep.yaml --json']);
}

async function validate(shell: Shell, files: readonly string[], flags: Flags): Promise<void> {
  const { planFile } = await import('../sweep/plan-sweep.ts');
  const mistakes: Mistake[] = [];
  for (const file of files) {
    try {
      await planFile(shell, file, flags, false);
      if (!flags.json) shell.stdout.write(`${file}: fine\n`);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      mistakes.push(...error.mistakes);
    }
  }
  if (mistakes.length > 0) throw new UsageError(mistakes);
  if (flags.json) shell.stdout.write(`${JSON.stringify({ files, mistakes: [] })}\n`);
}
