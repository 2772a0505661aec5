import { setTimeout as sleepFor } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import type { WorkerConfig } from './config.ts';
import type { Logger } from './log.ts';

const answerWithinMs = 4_000;
const longestPauseMs = 10_000;
/** A server that has just started may not know its namespace or its keys yet. */
const mostRefusals = 3;

/** Temporal answers, and will not have this worker: another namespace or another key is needed. */
export class RefusedByTemporal extends Error {
  override readonly name = 'RefusedByTemporal';
}

/**
 * Connects to Temporal and sees that the namespace is there; tries again for as long as it is out of reach.
 * Throws `RefusedByTemporal` when it says no three times in a row, and the signal's reason.
 */
export async function connectToTemporal(
  temporal: WorkerConfig['temporal'],
  log: Logger,
  signal: AbortSignal,
): Promise<NativeConnection> {
  let refusals = 0;
  for (let pauseMs = 1_000; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    signal.throwIfAborted();
    try {
      return await connectOnce(temporal);
    } catch (error) {
      refusals = isRefusal(error) ? refusals + 1 : 0;
      const message = error instanceof Error ? error.message : String(error);
      const place = { address: temporal.connectionOptions.address, namespace: temporal.namespace };
      if (refusals === mostRefusals) throw new RefusedByTemporal(message, { cause: error });
      log.warn({ ...place, reason: message, pauseMs }, 'Temporal is not reached; trying again');
    }
    await sleepFor(pauseMs, undefined, { signal });
  }
}

async function connectOnce({ connectionOptions, namespace }: WorkerConfig['temporal']) {
  const connection = await NativeConnection.connect(connectionOptions);
  try {
    await inTime(connection, () => connection.workflowService.describeNamespace({ namespace }));
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** The cheapest call that a server answers. */
export async function pingTemporal(connection: NativeConnection): Promise<void> {
  await inTime(connection, () => connection.workflowService.getSystemInfo({}));
}

function inTime<T>(connection: NativeConnection, call: () => Promise<T>): Promise<T> {
  return connection.withDeadline(Date.now() + answerWithinMs, call);
}

const grpc = { invalidArgument: 3, notFound: 5, permissionDenied: 7, unauthenticated: 16 } as const;

function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return Object.values(grpc).some((refusal) => refusal === code);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
