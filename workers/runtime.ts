import { createServer } from 'node:net';
import { type LogLevel as CoreLogLevel, Runtime } from '@temporalio/worker';
import { type Logger, temporalLogger } from './log.ts';
import { callBuckets, runBuckets } from './metric-catalogue.ts';

/**
 * Installs Temporal's runtime: once a process, before anything connects. With `metrics` its exporter serves a page on
 * loopback, whose address is returned. The runtime leaves signals alone: the worker's own drain comes first.
 */
export async function installRuntime(options: {
  readonly log: Logger;
  readonly metrics: boolean;
}): Promise<string | undefined> {
  const address = options.metrics ? `127.0.0.1:${await freePort()}` : undefined;
  Runtime.install({
    logger: temporalLogger(options.log),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: coreFilter(options.log), forward: {} },
      ...(address === undefined ? {} : { metrics: { prometheus: exporter(address) } }),
    },
  });
  return address === undefined ? undefined : `http://${address}/metrics`;
}

function coreFilter(log: Logger): { readonly core: CoreLogLevel; readonly other: CoreLogLevel } {
  const isVerbose = log.isLevelEnabled('debug');
  return isVerbose ? { core: 'DEBUG', other: 'INFO' } : { core: 'WARN', other: 'ERROR' };
}

/** Names as Prometheus wants them, and buckets for activities and workflows that take minutes. */
function exporter(bindAddress: string) {
  return {
    bindAddress,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
    histogramBucketOverrides: {
      activity_execution_latency: [...runBuckets],
      activity_succeed_endtoend_latency: [...runBuckets],
      activity_schedule_to_start_latency: [...callBuckets],
      workflow_endtoend_latency: [...runBuckets],
      workflow_task_schedule_to_start_latency: [...callBuckets],
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
