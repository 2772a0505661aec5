import process from 'node:process';
import type { NativeConnection, Worker } from '@temporalio/worker';
import { systemClock } from '../adapters/clock.ts';
import { createSecrets } from '../adapters/secrets.ts';
import { workflowBundle } from './bundle.ts';
import type { WorkerConfig } from './config.ts';
import { type WatchedContact, watchContact } from './contact.ts';
import { createDependencies } from './dependencies.ts';
import { startHealthServer } from './health.ts';
import { createLog, type Logger } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { openFleetPace } from './pace-desk.ts';
import { type WatchedDependencies, watchPreflight } from './preflight-watch.ts';
import { queueSource } from './queue-source.ts';
import { installRuntime } from './runtime.ts';
import { storesOf } from './stores.ts';
import { watchSweeps } from './sweep-watch.ts';
import { connectToTemporal, pingTemporal, RefusedByTemporal } from './temporal.ts';
import { createWorker } from './worker.ts';

/** The process around a worker. */
export type WorkerIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stderr: { write(text: string): unknown };
  readonly onSignal: (signals: readonly NodeJS.Signals[], handler: () => void) => () => void;
  /** Ends the process at once. */
  readonly leave: (exitCode: number) => void;
  /** Regatta's version. */
  readonly version: string;
  /** Where the workflow bundle is kept. */
  readonly cacheFolder: string;
};

/** What the functions below share. */
type Setting = {
  readonly config: WorkerConfig;
  readonly io: WorkerIo;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Aborted by the first signal, and when the worker's sweep is over. */
  readonly drain: AbortController;
  /** What runs so far: a worker that still connects is alive and not ready. */
  readonly parts: { worker?: Worker; contact?: WatchedContact; lack?: WatchedDependencies['lack'] };
};

/**
 * Runs one worker of the fleet until it is asked to stop; returns the exit code: 0 after a drain, 1 when the worker
 * broke, 5 when Temporal will not have it. A second signal leaves with 130. Throws a `UsageError` where the metrics
 * port is taken.
 */
export async function runWorkerProcess(config: WorkerConfig, io: WorkerIo): Promise<number> {
  const { redact } = createSecrets({ env: io.env, allowed: [...config.allowEnv, 'TEMPORAL_API_KEY'] });
  const log = createLog({ level: config.logLevel, output: io.stderr, redact });
  const metrics = createMetrics({
    version: io.version,
    node: process.version,
    namespace: config.temporal.namespace,
    queue: config.queue,
    now: Date.now,
  });
  const setting: Setting = { config, io, log, metrics, drain: new AbortController(), parts: {} };
  const coreUrl = await installRuntime({ log, metrics: config.metrics !== undefined });
  const health = await serveHealth(setting, coreUrl);
  const stopListening = drainOnSignal(setting);
  try {
    return await connectAndWork(setting);
  } finally {
    stopListening();
    await health?.close();
  }
}

async function serveHealth(setting: Setting, coreUrl: string | undefined) {
  const { config, log, metrics } = setting;
  if (config.metrics === undefined) return undefined;
  const health = await startHealthServer({
    ...config.metrics,
    coreUrl,
    metricsText: metrics.text,
    ready: () => {
      const reasons = reasonsNotReady(setting);
      return { ready: reasons.length === 0, reasons };
    },
  });
  log.info({ host: config.metrics.host, port: health.port }, 'serving /metrics, /healthz and /readyz');
  return health;
}

function reasonsNotReady({ parts, drain, config }: Setting): readonly string[] {
  if (drain.signal.aborted) return ['the worker drains'];
  const state = parts.worker?.getState().toLowerCase() ?? 'starting';
  const lack = parts.lack?.();
  return [
    ...(state === 'running' ? [] : [`the worker is ${state}`]),
    ...(parts.contact?.reachable()
      ? []
      : [`Temporal is not reached, namespace ${config.temporal.namespace}`]),
    ...(lack === undefined ? [] : [`the last preflight failed: ${lack}`]),
  ];
}

function drainOnSignal({ io, drain, log }: Setting): () => void {
  return io.onSignal(['SIGINT', 'SIGTERM'], () => {
    if (drain.signal.aborted) return io.leave(130);
    log.info('draining: conversations stop after the message in flight; a second signal leaves at once');
    drain.abort();
  });
}

async function connectAndWork(setting: Setting): Promise<number> {
  const { config, log, drain, parts } = setting;
  try {
    const connection = await connectToTemporal(config.temporal, log, drain.signal);
    await work(setting, connection);
    await connection.close();
    return 0;
  } catch (error) {
    // Nothing was begun yet, so nothing can be lost.
    if (drain.signal.aborted && parts.worker === undefined) return 0;
    if (error instanceof RefusedByTemporal) {
      log.error(
        { namespace: config.temporal.namespace, reason: error.message },
        'Temporal refuses this worker',
      );
      return 5;
    }
    log.error({ error }, 'the worker broke');
    return 1;
  }
}

async function work(setting: Setting, connection: NativeConnection): Promise<void> {
  const { config, io, log, metrics, drain, parts } = setting;
  const contact = watchContact(() => pingTemporal(connection), Date.now);
  metrics.watchContact(contact.reachable);
  const { namespace } = config.temporal;
  const pace = openFleetPace({
    ...{ connection, namespace, onLease: metrics.onLease },
    bundle: () => workflowBundle(io.cacheFolder),
    onSilence: ({ name }, reason) =>
      log.warn({ endpoint: name, reason }, 'no answer about the pace: calls wait when the lease has ended'),
  });
  const made = createDependencies({
    ...config,
    openStore: storesOf(config.stores),
    pace: config.paceShare ?? pace,
    env: io.env,
    version: io.version,
    meter: metrics.meter,
    onPaceWait: metrics.onPaceWait,
    contact,
    drain: drain.signal,
    log: (text) => log.info({ text }, 'user code printed'),
  });
  metrics.watchEndpoints(made.readings);
  const openStore: typeof made.deps.openStore = (address) => metrics.meterStore(made.deps.openStore(address));
  const { deps, lack } = watchPreflight({ ...made.deps, openStore }, warnOfLongCalls(setting));
  Object.assign(parts, { contact, lack });
  try {
    const bundle = config.role === 'activities' ? '' : await workflowBundle(io.cacheFolder);
    parts.worker = await createWorker({ ...config, connection, namespace, bundle, deps });
    const watching = tellSweeps(setting, connection, parts.worker);
    await runUntilDrained(setting, parts.worker).finally(watching);
  } finally {
    // No call is in flight any more: what this worker held is the others'.
    await pace.close();
    contact.close();
    await made.close();
  }
}

/**
 * Shows how the sweeps of the queue stand, where there is a page to show it on; only workers that play workflows can
 * be among those that ask. Returns what ends it.
 */
function tellSweeps({ config, metrics, drain }: Setting, connection: NativeConnection, worker: Worker) {
  const ended = new AbortController();
  const options = {
    source: queueSource(connection, config.temporal.namespace, config.queue),
    identity: worker.options.identity,
    show: metrics.showSweeps,
    onFailure: metrics.sweepWatchFailed,
    now: Date.now,
  };
  const watching =
    config.metrics === undefined || config.role === 'activities'
      ? Promise.resolve()
      : watchSweeps(options, systemClock.sleep, AbortSignal.any([ended.signal, drain.signal]));
  return async (): Promise<void> => {
    ended.abort();
    await watching;
  };
}

/** Rejects where the worker breaks, also while it drains: some conversation was cut off then. */
async function runUntilDrained(setting: Setting, worker: Worker): Promise<void> {
  const { config, log, metrics, drain } = setting;
  const stop = (): void => {
    metrics.drains();
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const running = worker.run();
  drain.signal.addEventListener('abort', stop, { once: true });
  if (drain.signal.aborted) stop();
  log.info(
    { queue: config.queue, role: config.role, namespace: config.temporal.namespace },
    'worker started',
  );
  await running;
  log.info('worker stopped');
}

/** A drain that ends before a call does costs that call. */
function warnOfLongCalls({ config, log }: Setting) {
  return (sweep: {
    readonly id: string;
    readonly spec: { readonly timeouts: { readonly callMs: number } };
  }): void => {
    const { callMs } = sweep.spec.timeouts;
    const needMs = callMs + 15_000;
    if (needMs <= config.graceMs) return;
    const advice = `calls may outlive a drain: start workers with --grace ${Math.ceil(needMs / 1000)}s`;
    log.warn({ sweep: sweep.id, callMs, graceMs: config.graceMs }, advice);
  };
}
