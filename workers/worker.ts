import { setFlagsFromString } from 'node:v8';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import type { WorkerDependencies } from '../activities/ports.ts';

export type Role = 'all' | 'workflows' | 'activities';

export type FleetWorkerOptions = {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly queue: string;
  readonly role: Role;
  /** How many activities run at once. */
  readonly slots: number;
  /** How long activities may take to return once the worker drains, in milliseconds. */
  readonly graceMs: number;
  /** Path of the workflow bundle. */
  readonly bundle: string;
  readonly deps: WorkerDependencies;
};

/** Workflows kept in memory: a cached one costs about 0.3 MB, an evicted one a replay. */
const cachedWorkflows = 200;

/**
 * A worker of the fleet on one task queue; `run()` it. The SDK takes a stack for each promise of a workflow, which
 * costs more than all the rest of its thread: contexts that are made from now on keep one frame of it.
 */
export function createWorker(options: FleetWorkerOptions): Promise<Worker> {
  setFlagsFromString('--stack-trace-limit=1');
  const playsWorkflows = options.role !== 'activities';
  const playsActivities = options.role !== 'workflows';
  const common: WorkerOptions = {
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.queue,
    identity: options.deps.identity,
    shutdownGraceTime: options.graceMs,
    shutdownForceTime: options.graceMs + 15_000,
    // Heartbeats are due every 5 s; the default throttle would hold them back to 80 % of the timeout.
    maxHeartbeatThrottleInterval: '5 seconds',
    defaultHeartbeatThrottleInterval: '5 seconds',
  };
  return Worker.create({
    ...common,
    ...(playsWorkflows
      ? {
          workflowBundle: { codePath: options.bundle },
          maxCachedWorkflows: cachedWorkflows,
          maxConcurrentWorkflowTaskExecutions: 40,
          // The options that count pollers are dead in this SDK; only behaviours are read.
          workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 8 } as const,
        }
      : {}),
    ...(playsActivities
      ? {
          activities: createActivities(options.deps),
          maxConcurrentActivityTaskExecutions: options.slots,
          activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 16 } as const,
        }
      : {}),
  });
}
