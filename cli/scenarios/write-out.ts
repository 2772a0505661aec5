import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../domain/usage-error.ts';
import type { Shell } from '../shell.ts';

/**
 * Writes a command's result to a file, relative to the current folder, or to stdout (no file, or `-`).
 * @throws UsageError where the file cannot be written.
 */
export async function writeOut(shell: Shell, file: string | undefined, text: string): Promise<void> {
  if (file === undefined || file === '-') {
    if (text !== '') shell.stdout.write(text);
    return;
  }
  await writeFile(resolve(shell.cwd, file), text).catch((error: Error) => {
    throw new UsageError({ message: `cannot write ${file}: ${error.message}` });
  });
}
