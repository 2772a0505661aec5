import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A real worker process of the fleet. */
export type WorkerProcess = {
  readonly pid: number;
  /** Resolves with the exit code (or the signal) when it is gone. */
  readonly gone: Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
  /** Its log so far. */
  log(): readonly string[];
};

const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

/** Starts a worker process; resolves when it polls. */
export async function startWorkerProcess(options: {
  readonly address: string;
  readonly queue: string;
  /** The only store that it opens; absent: the one that a sweep names. */
  readonly store?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The program; absent: the checkout's own. */
  readonly program?: string;
}): Promise<WorkerProcess> {
  const args = [
    'worker',
    '--address',
    options.address,
    '--queue',
    options.queue,
    ...(options.store === undefined ? [] : ['--store', options.store]),
    '--metrics-port',
    'off',
  ];
  const child: ChildProcess = spawn(
    process.execPath,
    [options.program ?? main, ...args, ...(options.flags ?? [])],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...options.env },
    },
  );
  const lines: string[] = [];
  const gone = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'gone')),
  );
  if (child.stderr === null || child.pid === undefined) throw new Error('the worker process did not start');
  const reader = createInterface({ input: child.stderr });
  await new Promise<void>((resolve, reject) => {
    reader.on('line', (line) => {
      lines.push(line);
      if (line.includes('RUNNING')) resolve();
    });
    void gone.then((how) => reject(new Error(`the worker process ended (${how}):\n${lines.join('\n')}`)));
  });
  return { pid: child.pid, gone, kill: (signal) => child.kill(signal), log: () => lines };
}
