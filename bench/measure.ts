import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { PracticeProcess } from './practice-process.ts';
import { commandLine, listProcesses, type ProcessState, treeOf } from './processes.ts';

/** What one program took. */
export type Measured = {
  /** From the first call, as the model saw it, to the exit. */
  readonly wallSeconds: number;
  /** From the program's start to the first call. */
  readonly startSeconds: number;
  readonly cpuSeconds: number;
  readonly serverCpuSeconds: number;
  /** The most that the program's processes held at once, the Temporal server apart. */
  readonly peakRssMiB: number;
  readonly calls: number;
  readonly probes: number;
  /** Memory at each sample, with the calls that had been made by then. */
  readonly samples: readonly Sample[];
};

export type Sample = { readonly calls: number; readonly rssMiB: number };

const sampleEveryMs = 200;

/** The command as users type it from a checkout: its launcher chooses Node's flags. */
export const regatta = fileURLToPath(new URL('../regatta', import.meta.url));

/** This process's environment without what would lead a run to another Temporal, store or file. */
export function cleanEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(TEMPORAL|REGATTA)_/.test(name)),
  );
}

/**
 * Runs a program in a folder, and watches its processes until it has exited. Throws where it does not exit
 * with 0; its own words are then in the message.
 */
export async function measure(
  folder: string,
  command: readonly string[],
  practice: PracticeProcess,
): Promise<Measured> {
  const [program = '', ...args] = command;
  await practice.reset();
  const startedAt = Date.now();
  const child = spawn(program, args, {
    cwd: folder,
    env: cleanEnv(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const words: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => words.push(text));
  const watched = watchProcesses(child.pid ?? 0, folder, practice);
  const [code] = await once(child, 'close');
  const endedAt = Date.now();
  const usage = await watched.end();
  const { firstCallAt, stats } = await practice.seen();
  if (code !== 0 || firstCallAt === undefined)
    throw new Error(`${command.join(' ')}: exit code ${code}\n${words.join('')}`);
  return {
    wallSeconds: (endedAt - firstCallAt) / 1000,
    startSeconds: (firstCallAt - startedAt) / 1000,
    calls: stats.calls,
    probes: stats.probes,
    ...usage,
  };
}

type Usage = Pick<Measured, 'cpuSeconds' | 'serverCpuSeconds' | 'peakRssMiB' | 'samples'>;

/** Samples a tree of processes; the Temporal server of `folder` is counted apart. */
function watchProcesses(root: number, folder: string, practice: PracticeProcess): { end(): Promise<Usage> } {
  const cpu = { own: new Map<number, number>(), server: new Map<number, number>() };
  const samples: Sample[] = [];
  const servers = new Set<number>();
  const isServer = ({ pid, parent }: ProcessState) => {
    if (!servers.has(pid) && parent !== root && parent !== 1) return false;
    if (!servers.has(pid) && isTemporalOf(folder, commandLine(pid))) servers.add(pid);
    return servers.has(pid);
  };
  async function sample(): Promise<void> {
    const all = listProcesses();
    const server = all.filter(isServer);
    const own = treeOf(root, all).filter(({ pid }) => !servers.has(pid));
    for (const { pid, cpuSeconds } of own) cpu.own.set(pid, cpuSeconds);
    for (const { pid, cpuSeconds } of server) cpu.server.set(pid, cpuSeconds);
    const { stats } = await practice.seen();
    samples.push({ calls: stats.calls, rssMiB: sum(own.map(({ rssMiB }) => rssMiB)) });
  }
  let sampling = Promise.resolve();
  const timer = setInterval(() => {
    sampling = sampling.then(sample);
  }, sampleEveryMs);
  return {
    async end() {
      clearInterval(timer);
      await sampling;
      return {
        cpuSeconds: sum([...cpu.own.values()]),
        serverCpuSeconds: sum([...cpu.server.values()]),
        peakRssMiB: Math.max(0, ...samples.map(({ rssMiB }) => rssMiB)),
        samples,
      };
    },
  };
}

function isTemporalOf(folder: string, command: string): boolean {
  return command.includes('start-dev') && command.includes(folder);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
