import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startPracticeModel } from '../practice/server.ts';

// node examples/run.ts FOLDER [FLAGS]: starts what an example needs on free ports, runs its sweep, stops it again.

type Service = { readonly url: string; close(): Promise<void> };

const here = dirname(fileURLToPath(import.meta.url));

/** The files that serve what an example tests, and the variable that carries their address. */
const services: Readonly<Record<string, string>> = { 'agent.ts': 'DESK_URL', 'server.ts': 'ENDPOINT_URL' };

/** Runs an example's sweep with the CLI and resolves to its exit code, which is the gate's. */
async function runExample(folder: string, flags: readonly string[]): Promise<number> {
  const practice = await startPracticeModel();
  const started: Service[] = [practice];
  const env: Record<string, string> = { PRACTICE_URL: practice.url };
  try {
    for (const [file, name] of Object.entries(services)) {
      const path = join(here, folder, file);
      if (!existsSync(path)) continue;
      const service = await ((await import(path)) as { start(): Promise<Service> }).start();
      started.push(service);
      env[name] = service.url;
    }
    const worker = join(here, folder, 'worker.py');
    if (existsSync(worker)) started.push(await startPython(worker));
    return await runCli(['run', relative('', join(here, folder, 'sweep.yaml')), ...flags], env);
  } finally {
    await Promise.all(started.map((service) => service.close()));
  }
}

/** A Python worker on the server that local runs of this folder share. */
async function startPython(file: string): Promise<Service> {
  const cli = join(here, '../cli/main.ts');
  const address = execFileSync(process.execPath, [cli, 'server', 'start'], { encoding: 'utf8' }).trim();
  const worker = spawn(process.env.PYTHON ?? 'python3', [file], {
    stdio: 'inherit',
    env: { ...process.env, TEMPORAL_ADDRESS: address },
  });
  await once(worker, 'spawn');
  return {
    url: address,
    async close() {
      if (worker.exitCode === null && worker.signalCode === null) {
        worker.kill('SIGKILL');
        await once(worker, 'exit');
      }
      execFileSync(process.execPath, [cli, 'server', 'stop'], { stdio: 'ignore' });
    },
  };
}

function runCli(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const cli = spawn(process.execPath, [join(here, '../cli/main.ts'), ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  // Ctrl-C reaches the CLI too, which lets its conversations stop in order: what they talk to must outlive it.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => cli.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    cli.once('error', reject);
    cli.once('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 130)));
  });
}

const [folder, ...flags] = process.argv.slice(2);
if (folder === undefined) throw new Error('say which example: node examples/run.ts refund-desk');
process.exitCode = await runExample(folder, flags);
