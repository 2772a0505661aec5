import { Context } from '@temporalio/activity';
import { type ActivityCancellationDetails, ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { Fault } from '../domain/fault.ts';
import type { WorkerDependencies } from './ports.ts';
import type { Signals } from './stretch.ts';

const beatEveryMs = 5_000;
/** After a fault that trying again mends without a paid call (the store is out of reach, another worker is needed). */
const nextTryDelay = '5 seconds';

/** Failures lie in histories. */
const longestMessage = 800;

/**
 * Runs an activity's work with heartbeats from the fifth second on, so that short ones cost none. A cancelled one is
 * asked to return after the message in flight; one whose attempt no longer counts, or whose worker goes, is aborted.
 */
export async function attended<T>(
  { drain, identity }: Pick<WorkerDependencies, 'drain' | 'identity'>,
  work: (signals: Signals, context: Context) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const abort = new AbortController();
  const stop = new AbortController();
  const onCancel = () => {
    stop.abort(context.cancellationSignal.reason);
    if (!isRequest(context.cancellationDetails)) abort.abort(context.cancellationSignal.reason);
  };
  const onDrain = () => stop.abort(new CancelledFailure('the worker drains'));
  const beat = setInterval(() => context.heartbeat(), beatEveryMs);
  context.cancellationSignal.addEventListener('abort', onCancel);
  drain.addEventListener('abort', onDrain);
  if (context.cancellationSignal.aborted) onCancel();
  if (drain.aborted) onDrain();
  try {
    return await work({ abort: abort.signal, stop: stop.signal }, context);
  } catch (error) {
    // An attempt that was called off breaks nothing: whatever it says, it says because it was called off.
    throw abort.signal.aborted ? abort.signal.reason : failureOf(error, identity);
  } finally {
    clearInterval(beat);
    context.cancellationSignal.removeEventListener('abort', onCancel);
    drain.removeEventListener('abort', onDrain);
  }
}

/** Whether the workflow (or an operator) asked for it, and the attempt still counts. */
function isRequest(details: ActivityCancellationDetails | undefined): boolean {
  if (details === undefined) return false;
  const lost = details.notFound || details.timedOut || details.workerShutdown || details.reset;
  return !lost && (details.cancelRequested || details.paused);
}

/** How a fault, a cancellation or a bug of a worker's activity looks to Temporal: only a bug is not tried again. */
export function failureOf(error: unknown, worker: string): Error {
  if (error instanceof CancelledFailure || error instanceof ApplicationFailure) return error;
  if (error instanceof Fault) {
    return ApplicationFailure.create({
      type: error.code,
      message: `${error.message} (worker ${worker})`,
      nextRetryDelay: nextTryDelay,
      cause: error,
    });
  }
  const cause = error instanceof Error ? error : new Error(String(error));
  return ApplicationFailure.create({
    type: 'bug',
    message: (cause.stack ?? cause.message).slice(0, longestMessage),
    nonRetryable: true,
    cause,
  });
}
