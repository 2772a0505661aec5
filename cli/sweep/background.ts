import { spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandFailure } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';
import { isRunning } from './launch.ts';
import type { PlayFlags } from './sweep-flags.ts';
import { openRunningTemporal } from './temporal.ts';

const lookEveryMs = 300;
const linesOfLog = 5;

/**
 * Starts a process that plays a stored sweep and leaves with its end; resolves when the sweep's workflow runs.
 * @throws CommandFailure (unreachable) where that process died before, with the end of its log.
 */
export async function attendInBackground(
  shell: Shell,
  sweep: string,
  store: string,
  flags: PlayFlags,
): Promise<void> {
  const folder = join(shell.cwd, '.regatta');
  await mkdir(folder, { recursive: true });
  const logPath = join(folder, `${sweep}.log`);
  const log = await open(logPath, 'a');
  const main = fileURLToPath(
    new URL(`../main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
  );
  const hosts = (flags.allowHost ?? []).flatMap((host) => ['--allow-host', host]);
  const args = [
    ...shell.system.nodeFlags,
    main,
    'attend',
    sweep,
    '--store',
    store,
    ...hosts,
    ...(flags.ui ? ['--ui'] : []),
  ];
  const child = spawn(shell.system.nodePath, args, {
    cwd: shell.cwd,
    env: { ...shell.env },
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  let exited = false;
  child.once('exit', () => {
    exited = true;
  });
  child.unref();
  while (!(await runs(shell, sweep))) {
    if (exited)
      throw new CommandFailure(
        'unreachable',
        `the sweep could not be started:\n${await logTail(logPath)}`,
        `see ${logPath}`,
      );
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/** Whether the sweep's workflow is there; a server that is still starting has none. */
async function runs(shell: Shell, sweep: string): Promise<boolean> {
  try {
    const temporal = await openRunningTemporal(shell, {});
    try {
      return await isRunning(temporal.client, sweep);
    } finally {
      await temporal.close();
    }
  } catch {
    return false;
  }
}

async function logTail(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-linesOfLog).join('\n');
}
