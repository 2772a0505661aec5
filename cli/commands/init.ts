import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { UsageError } from '../../domain/usage-error.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';

/** The JSON Schema that came with this program; editors complete the sweep with it. */
const schemaPath = fileURLToPath(new URL('../../formats/schemas/sweep.schema.json', import.meta.url));

/** `regatta init`: a small sweep that runs at once. */
export function registerInit(program: Command, shell: Shell): void {
  const init = program
    .command('init')
    .description('Writes a small sweep that runs at once, with comments.')
    .argument('[dir]', 'where to; made if it is not there', '.')
    .option('--json', 'print the written files as one object')
    .action(async (dir: string, { json }: { json?: true }) => {
      const { initFiles } = await import('../../formats/init-template.ts');
      const folder = resolve(shell.cwd, dir);
      const written = writeFiles(folder, initFiles(relative(folder, schemaPath)));
      const shown = written.map((path) => relative(shell.cwd, path));
      shell.stdout.write(json ? `${JSON.stringify({ files: shown })}\n` : `${shown.join('\n')}\n`);
    });
  addExamples(init, ['init', 'init my-sweep', 'init my-sweep && regatta run my-sweep/sweep.yaml']);
}

type NewFile = { readonly path: string; readonly text: string };

function writeFiles(folder: string, files: readonly NewFile[]): readonly string[] {
  const taken = files.filter(({ path }) => existsSync(join(folder, path)));
  if (taken.length > 0) {
    const hint = 'choose another folder: regatta init DIR';
    throw new UsageError(
      taken.map(({ path }) => ({ message: `${join(folder, path)} exists already`, hint })),
    );
  }
  return files.map(({ path, text }) => {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    // Exclusive, so that a file which appeared meanwhile is not overwritten either.
    writeFileSync(target, text, { flag: 'wx' });
    return target;
  });
}
