import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { TargetAsk, TargetFailure, TargetHeard } from '../activities/queue-turn.ts';
import type { Json } from '../domain/json.ts';

/** What a worker of the target serves: its published contract. */
type TargetActivities = { target_turn(ask: TargetAsk): Promise<Json> };

const longestMessage = 800;

/**
 * One reply of a target that lives on a queue of its own. It waits without end for a worker of the target, and makes
 * one try: its failure is what the next stretch hears. Throws where the run is cancelled.
 */
export async function askTarget(queue: string, ask: TargetAsk, callMs: number): Promise<TargetHeard> {
  const key = ask.idempotency_key;
  const { target_turn: turn } = proxyActivities<TargetActivities>({
    taskQueue: queue,
    startToCloseTimeout: callMs,
    retry: { maximumAttempts: 1 },
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  const began = Date.now();
  try {
    const reply = await turn(ask);
    const ms = Date.now() - began;
    // What took longer than a call may has waited for its worker, nobody knows how long.
    return { key, reply, ms: ms > callMs ? 0 : ms };
  } catch (error) {
    if (CancellationScope.current().consideredCancelled) throw error;
    return { key, ms: 0, failure: failureOf(error, callMs) };
  }
}

function failureOf(error: unknown, callMs: number): TargetFailure {
  if (isCancellation(error)) return { kind: 'interrupted', message: 'its worker stopped while it worked' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    return { kind: 'timed_out', message: `gave no answer in time (${callMs} ms), or its worker was lost` };
  }
  const message = String(cause instanceof Error ? cause.message : cause).slice(0, longestMessage);
  if (!(cause instanceof ApplicationFailure)) return { kind: 'error', message };
  const { type, nonRetryable } = cause;
  return {
    kind: 'error',
    message,
    ...(type === undefined || type === null ? {} : { type }),
    ...(nonRetryable === true ? { isFinal: true } : {}),
  };
}
