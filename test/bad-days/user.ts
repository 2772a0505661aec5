import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Store } from '../../activities/ports.ts';
import { createFileStore } from '../../adapters/file-store/index.ts';

export type Ended = {
  /** The exit code, or the signal that it died of. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
};

/** A command that runs. */
export type Live = {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Resolves when stderr holds the text; rejects when the command ends without. */
  says(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
};

export type How = {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Leads a process group of its own, as a shell's job does. */
  readonly ownGroup?: boolean;
};

/** Somebody who sits in a fresh folder and types commands: real processes, a real server of the folder. */
export type User = {
  readonly folder: string;
  readonly store: Store;
  /** Writes a file of the folder. */
  write(name: string, text: string): Promise<string>;
  /** Runs `regatta` with these arguments until it has ended. */
  regatta(args: readonly string[], how?: How): Promise<Ended>;
  begin(args: readonly string[], how?: How): Live;
  /** Any other program. */
  beginProgram(program: string, args: readonly string[], how?: How): Live;
  /** Pid of the folder's Temporal server; undefined when none is written down. */
  serverPid(): number | undefined;
  /** Ends all that was started here, by pid, and removes the folder. */
  leave(): Promise<void>;
};

export const cliMain = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

/** A user in a fresh folder; commands get `env` beside what this process has. */
export async function aUser(env: Readonly<Record<string, string>> = {}): Promise<User> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'regatta-user-')));
  const live = new Set<ChildProcess>();
  const beginProgram: User['beginProgram'] = (program, args, how = {}) => {
    const child = spawn(program, args, {
      cwd: how.cwd ?? folder,
      env: { ...cleanEnvironment(), ...env, ...how.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: how.ownGroup ?? false,
    });
    live.add(child);
    child.once('exit', () => live.delete(child));
    return liveOf(child);
  };
  const begin: User['begin'] = (args, how) => beginProgram(process.execPath, [cliMain, ...args], how);
  return {
    folder,
    store: createFileStore(join(folder, '.regatta/sweeps')),
    async write(name, text) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    },
    regatta: (args, how) => begin(args, how).ended,
    begin,
    beginProgram,
    serverPid: () => stateOf(folder)?.pid,
    async leave() {
      for (const child of live) child.kill('SIGKILL');
      const state = stateOf(folder);
      for (const { pid } of state?.users ?? []) kill(pid);
      if (state !== undefined) kill(state.pid);
      const locked = lockedBy(folder);
      if (locked !== undefined) kill(locked);
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

type ServerState = { readonly pid: number; readonly users: readonly { readonly pid: number }[] };

function stateOf(folder: string): ServerState | undefined {
  const path = join(folder, '.regatta/server.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ServerState) : undefined;
}

/** The server that holds the folder's lock, also where no state tells of it. */
function lockedBy(folder: string): number | undefined {
  const path = join(folder, '.regatta/server.lock');
  const pid = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  const command = `/proc/${pid}/cmdline`;
  return pid !== '' && existsSync(command) && readFileSync(command, 'utf8').includes(folder)
    ? Number(pid)
    : undefined;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

// What the machine that runs the tests has set must not change what they see.
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(REGATTA|TEMPORAL|PRACTICE|NODE_TEST)_/.test(name),
  );
  return Object.fromEntries(own);
}

function liveOf(child: ChildProcess): Live {
  let [stdout, stderr] = ['', ''];
  const heard = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const listen of heard) listen();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code: code ?? signal ?? 'gone', stdout, stderr }));
  });
  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => child.kill(signal),
    says: (text) =>
      new Promise((resolve, reject) => {
        const listen = () => {
          if (!stderr.includes(text)) return;
          heard.delete(listen);
          resolve();
        };
        heard.add(listen);
        listen();
        void ended.then((end) => {
          if (!stderr.includes(text)) reject(new Error(`ended (${end.code}) without "${text}":\n${stderr}`));
        });
      }),
  };
}

/** Looks again until it is so; the command under test, not a clock, decides how long that takes. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}
