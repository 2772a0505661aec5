import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { processShell } from '../cli/shell.ts';
import { resolveTemporal } from '../cli/temporal-server/resolve.ts';

/** A real Temporal dev server of a test's own, on a database that outlives its death. */
export type DevServer = {
  readonly address: string;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Brings a killed server back on its port and database. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts one; `flags` are added to its command line. */
export async function startDevServer(flags: readonly string[] = []): Promise<DevServer> {
  const { path } = await resolveTemporal(processShell());
  const folder = await mkdtemp(join(tmpdir(), 'regatta-server-'));
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const args = [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--port',
    String(port),
    '--headless',
    '--log-level',
    'error',
  ];
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];
  let child: ChildProcess;
  async function start(): Promise<void> {
    const database = ['--db-filename', join(folder, 'temporal.db')];
    child = spawn(path, [...args, ...pragmas, ...database, ...flags], { stdio: 'ignore' });
    endWithThisProcess(child);
    const connection = await connectPatiently(address);
    await connection.close();
  }
  async function kill(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }
  await start();
  return { address, kill, restart: start, stop: () => kill('SIGKILL') };
}

/** A test file that is told to end at its limit must leave no server behind. */
function endWithThisProcess(child: ChildProcess): void {
  const onSignal = () => {
    child.kill('SIGKILL');
    process.kill(process.pid, 'SIGTERM');
  };
  process.once('SIGTERM', onSignal);
  child.once('exit', () => process.off('SIGTERM', onSignal));
}

async function connectPatiently(address: string): Promise<Connection> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await Connection.connect({ address, connectTimeout: '1s' });
    } catch (error) {
      if (attempt >= 30) throw error;
    }
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
