import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { WorkerFlags } from '../../workers/config.ts';
import { addConnectionFlags, type ConnectionFlags, namedTemporal } from '../connection.ts';
import { addText } from '../flag-values.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';
import { regattaVersion } from '../version.ts';

type Flags = Partial<WorkerFlags> & ConnectionFlags;

/** `regatta worker`: a process of the fleet, until SIGTERM; it exits 0 after its drain. */
export function registerWorker(program: Command, shell: Shell): void {
  const worker = program
    .command('worker')
    .description('Plays runs of one task queue, as a process of the fleet.')
    .option('--project <folder>', 'folder that user modules come from (default: .)')
    .option('--queue <name>', 'task queue (default: regatta.<project>)')
    .option('--role <role>', 'all, workflows or activities (default: all)')
    .option('--store <places>', 'opens these stores alone (default: as sweeps name them)', addText)
    .option('--allow-env <names>', 'sweeps may use these (default: REGATTA_SECRET_*)', addText)
    .option('--allow-host <hosts>', 'models and targets may be there (default: all)', addText)
    .option('--slots <n>', 'how many activities at once (default: 256)')
    .option('--pace-share <share>', "this part of each endpoint's pace, as 1/4 (default: leased)")
    .option('--grace <time>', 'for a drain: call limit and 15s (default: 135s)')
    .option('--metrics-port <port>', '0 for any free one, or off (default: 9464)')
    .option('--metrics-host <address>', 'address to serve on (default: 127.0.0.1)')
    .option('--log-level <level>', 'trace, debug, info, warn, error (default: info)')
    .action(async (flags: Flags) => {
      shell.exitCode = await runWorker(flags, shell);
    });
  addConnectionFlags(worker);
  addExamples(worker, [
    'worker',
    'worker --address temporal:7233 --allow-env OPENAI_API_KEY',
    'worker --role activities --store s3://team-sweeps',
  ]);
}

async function runWorker(flags: Flags, shell: Shell): Promise<number> {
  const [{ readWorkerSettings, workerDefaults }, { projectQueue }, { cacheFolder }, { runWorkerProcess }] =
    await Promise.all([
      import('../../workers/config.ts'),
      import('../sweep/read-sweep.ts'),
      import('../sweep/embedded-worker.ts'),
      import('../../workers/main.ts'),
    ]);
  const queue = flags.queue ?? (await projectQueue(resolve(shell.cwd, flags.project ?? '.')));
  const settings = readWorkerSettings({ ...workerDefaults, ...flags, queue }, shell.cwd);
  const temporal = await findTemporal(flags, shell);
  try {
    return await runWorkerProcess(
      { ...settings, temporal },
      { ...shell, version: regattaVersion(), cacheFolder: cacheFolder(shell) },
    );
  } finally {
    await temporal.release();
  }
}

/** The Temporal that was named, else the folder's own server, which is started and looked after. */
async function findTemporal(flags: ConnectionFlags, shell: Shell) {
  const named = await namedTemporal(flags, shell.env);
  if (named !== undefined) return { ...named, release: async () => {} };
  const { acquireServer, watchServer } = await import('../temporal-server/index.ts');
  const server = await acquireServer({ shell });
  const stopWatching = watchServer({ shell });
  return {
    connectionOptions: { address: server.address },
    namespace: server.namespace,
    async release() {
      stopWatching();
      await server.release();
    },
  };
}
