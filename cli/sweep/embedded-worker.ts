import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Meter } from '../../activities/ports.ts';
import { systemClock } from '../../adapters/clock.ts';
import { createStore } from '../../adapters/store.ts';
import type { Shell } from '../shell.ts';
import { regattaVersion } from '../version.ts';
import type { Temporal } from './temporal.ts';

export type EmbeddedWorkerOptions = {
  readonly shell: Shell;
  readonly temporal: Temporal;
  readonly queue: string;
  readonly project: string;
  readonly store: string;
  /** Names of environment variables that the sweep may use. */
  readonly allowEnv: readonly string[];
  readonly allowHost: readonly string[];
  /** Limit of one call, in milliseconds: what a drain waits for. */
  readonly callMs: number;
};

export type EmbeddedWorker = {
  /** Asks every conversation to stop after the message in flight; resolves when the worker is gone. */
  drain(): Promise<void>;
  /** Rejects where the worker dies. */
  readonly done: Promise<void>;
};

const slots = 256;

/** Where things are kept that can be made again: the workflow bundle, the Temporal binary. */
export function cacheFolder(shell: Shell): string {
  return join(shell.env.XDG_CACHE_HOME ?? join(shell.env.HOME ?? homedir(), '.cache'), 'regatta');
}

/** Starts a worker inside this process: the fleet of a local run. */
export async function startEmbeddedWorker(options: EmbeddedWorkerOptions): Promise<EmbeddedWorker> {
  const { shell, temporal } = options;
  const [
    { NativeConnection, Runtime, makeTelemetryFilterString, DefaultLogger },
    bundling,
    wiring,
    fleet,
    { watchContact },
    { openFleetPace },
  ] = await Promise.all([
    import('@temporalio/worker'),
    import('../../workers/bundle.ts'),
    import('../../workers/dependencies.ts'),
    import('../../workers/worker.ts'),
    import('../../workers/contact.ts'),
    import('../../workers/pace-desk.ts'),
  ]);
  // Signals are the command's to handle: the first one drains.
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('ERROR', ({ message, meta }) =>
      shell.stderr.write(`worker: ${message} ${describe(meta)}\n`),
    ),
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} },
    },
  });
  const [bundle, connection] = await Promise.all([
    bundling.workflowBundle(cacheFolder(shell)),
    NativeConnection.connect(temporal.connectionOptions),
  ]);
  const draining = new AbortController();
  const contact = watchContact(async () => {
    await connection.workflowService.getSystemInfo({});
  }, systemClock.now);
  // Other commands and workers may play on the same server.
  const { namespace } = temporal;
  const pace = openFleetPace({
    ...{ connection, namespace, bundle: async () => bundle },
    onSilence: ({ name }, reason) =>
      shell.stderr.write(`worker: no answer about the pace of ${name}: ${reason}\n`),
  });
  const { deps, close } = wiring.createDependencies({
    project: options.project,
    // Its one sweep is where this command reads it, also where the folder has moved since the sweep was started.
    openStore: () => createStore(options.store),
    env: shell.env,
    allowEnv: options.allowEnv,
    allowHost: options.allowHost,
    pace,
    meter: silentMeter,
    onPaceWait: () => {},
    contact,
    drain: draining.signal,
    log: (text) => shell.stderr.write(text),
    version: regattaVersion(),
  });
  const worker = await fleet.createWorker({
    connection,
    namespace,
    queue: options.queue,
    role: 'all',
    slots,
    graceMs: options.callMs + 15_000,
    bundle,
    deps,
  });
  const done = worker.run().finally(async () => {
    await pace.close();
    contact.close();
    await close();
    await connection.close();
  });
  done.catch(() => {});
  return {
    done,
    async drain() {
      draining.abort();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}

function describe(meta: Record<string | symbol, unknown> | undefined): string {
  const error = meta?.error;
  return error instanceof Error ? error.message : '';
}

/** A local run shows its numbers itself. */
const silentMeter: Meter = {
  call: () => {},
  turn: () => {},
  runOpened: () => {},
  runLeft: () => {},
  runEnded: () => {},
};
