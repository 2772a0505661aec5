#!/usr/bin/env node
import process from 'node:process';
import { runCli } from './program.ts';
import { processShell } from './shell.ts';

process.stdout.on('error', ignoreClosedPipe);
process.stderr.on('error', ignoreClosedPipe);

const exitCode = await runCli(processShell());
// Output to a pipe may still be on its way, and an open connection must not keep a finished command alive.
await Promise.all([flush(process.stdout), flush(process.stderr)]);
process.exit(exitCode);

function flush(output: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (output.destroyed || !output.writable) resolve();
    else output.write('', () => resolve());
  });
}

// A reader that has seen enough (`| head`) is no reason to stop a sweep.
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
