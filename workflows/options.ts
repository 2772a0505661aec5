import type { ActivityOptions } from '@temporalio/workflow';
import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { createActivities } from '../activities/index.ts';
import type { Timeouts } from '../domain/sweep-spec.ts';

type Activities = ReturnType<typeof createActivities>;

/** Priorities on a task queue: 1 goes first. */
const priorities = { closing: 1, scoring: 2, laterStretch: 3, firstStretch: 4 } as const;

/** A worker that has not been heard of for so long is taken for lost. */
const heartbeatTimeout = '20 seconds';

const stretchMs = 5 * 60_000;
/** An inline run has longer stretches, as each one costs its shard three events. */
const inlineStretchMs = 30 * 60_000;
const longestWaitMs = 60_000;

/** No schedule-to-close limit anywhere on a conversation: a pause overnight must not lose a run. */
const attended: ActivityOptions = {
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
};

/** How long one activity plays, and how long it waits for a provider before the wait goes to the workflow. */
export function stretchOf(run: { readonly inline: boolean; readonly timeouts: Timeouts }) {
  const ms = run.timeouts.stretchMs ?? (run.inline ? inlineStretchMs : stretchMs);
  return { stretchMs: ms, longestWaitMs: run.inline ? ms : longestWaitMs };
}

/** The activities of a run. */
export function runActivities(
  run: { readonly inline: boolean; readonly timeouts: Timeouts },
  first: boolean,
) {
  const limit: ActivityOptions = {
    ...attended,
    startToCloseTimeout: stretchOf(run).stretchMs + run.timeouts.callMs + 30_000,
  };
  const { converse } = proxyActivities<Pick<Activities, 'converse'>>({
    ...limit,
    priority: { priorityKey: first ? priorities.firstStretch : priorities.laterStretch },
  });
  const { score } = proxyActivities<Pick<Activities, 'score'>>({
    ...limit,
    priority: { priorityKey: priorities.scoring },
  });
  const { closeSession } = proxyActivities<Pick<Activities, 'closeSession'>>({
    ...attended,
    startToCloseTimeout: '90 seconds',
    priority: { priorityKey: priorities.closing },
  });
  return { converse, score, closeSession };
}

/** The activities of a sweep and its shards: the store and the preflight. */
export const sweepIo = proxyActivities<Pick<Activities, 'openShard' | 'closeShard' | 'writeReport'>>({
  ...attended,
  startToCloseTimeout: '10 minutes',
  priority: { priorityKey: priorities.closing },
});

/** No able worker within this time halts the sweep. */
export const preflightLimit = '5 minutes';

export const preflightActivities = proxyActivities<Pick<Activities, 'preflight'>>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: preflightLimit,
  retry: { initialInterval: '1 second', backoffCoefficient: 1.5, maximumInterval: '10 seconds' },
  priority: { priorityKey: priorities.closing },
});

/** Waits for servers that are still loading, so it may take longer than five minutes. */
export const probeActivities = proxyActivities<Pick<Activities, 'probeEndpoints'>>({
  ...attended,
  startToCloseTimeout: '8 minutes',
  priority: { priorityKey: priorities.closing },
});
