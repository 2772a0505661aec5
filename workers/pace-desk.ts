import { randomBytes } from 'node:crypto';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { systemClock } from '../adapters/clock.ts';
import { sha256 } from '../adapters/hash.ts';
import type { Endpoint } from '../adapters/pace.ts';
import type { PaceAsk, PaceLease } from '../domain/pace-lease.ts';
import type { PaceInput, workflowNames } from '../workflows/messages.ts';
import { type AskForLease, createFleetPace, type FleetPace, type FleetPaceOptions } from './fleet-pace.ts';

/** All fleets of a namespace share their endpoints, so every worker that calls one looks after this queue. */
const queue = 'regatta.pace';
const workflowType = 'paceWorkflow' satisfies (typeof workflowNames)['pace'];
const updateName = 'lease';
const answerWithinMs = 4_000;
/**
 * A workflow that has not answered for so long, though Temporal does, never will: no build here can go on with it. Its
 * leases have ended by then.
 */
const wedgedAfterMs = 60_000;

export type PaceDeskOptions = {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** The path of the workflow bundle. */
  readonly bundle: () => Promise<string>;
};

/** The pace of the fleet, kept by a workflow for each endpoint. Costs nothing before the first lease is asked for. */
export function openFleetPace(
  options: PaceDeskOptions & Pick<FleetPaceOptions, 'onLease' | 'onSilence'>,
): FleetPace {
  const desk = openDesk(options);
  const pace = createFleetPace({
    ask: desk.ask,
    holder: randomBytes(8).toString('hex'),
    now: () => performance.now(),
    sleep: systemClock.sleep,
    ...options,
  });
  return {
    take: pace.take,
    async close() {
      await pace.close();
      await desk.close();
    },
  };
}

/** Where leases are asked for: the workflow of an endpoint, and a worker in this process that helps to run it. */
function openDesk({ connection, namespace, bundle }: PaceDeskOptions): {
  readonly ask: AskForLease;
  close(): Promise<void>;
} {
  const { workflow } = new Client({ connection, namespace });
  let helping: Promise<{ stop(): Promise<void> }> | undefined;
  /** When an ask was first left unanswered, by workflow. */
  const silentSince = new Map<string, number>();

  async function help(): Promise<void> {
    helping ??= startWorker({ connection, namespace, bundle });
    await helping.catch((error) => {
      helping = undefined;
      throw error;
    });
  }

  /** Starts the workflow where none runs. */
  function update(id: string, { name }: Endpoint, ask: PaceAsk, mayFollow: boolean): Promise<PaceLease> {
    const input: PaceInput = { mayFollow };
    const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, {
      workflowId: id,
      taskQueue: queue,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      // A task takes a millisecond; one that a frozen process took away must be given to another before leases end.
      workflowTaskTimeout: '3 seconds',
      staticSummary: `pace of ${name}`,
    });
    return workflow.executeUpdateWithStart(updateName, { args: [ask], startWorkflowOperation });
  }

  async function endWedged(id: string, askedAt: number): Promise<void> {
    const found = await inTime(() => workflow.getHandle(id).describe()).catch(() => undefined);
    // It is Temporal itself that does not answer.
    if (found === undefined) return void silentSince.delete(id);
    const since = silentSince.get(id) ?? askedAt;
    silentSince.set(id, since);
    if (performance.now() - since < wedgedAfterMs) return;
    await inTime(() => workflow.getHandle(id, found.runId).terminate('it does not answer')).catch(() => {});
    silentSince.delete(id);
  }

  /** The deadline is the server's to keep; what is tried again beyond it is not waited for. */
  async function inTime<T>(call: () => Promise<T>): Promise<T> {
    const over = new AbortController();
    const late = systemClock.sleep(answerWithinMs, over.signal).then(() => {
      throw new Error(`Temporal gave no answer within ${answerWithinMs / 1000} s`);
    });
    try {
      return await Promise.race([connection.withDeadline(Date.now() + answerWithinMs, call), late]);
    } finally {
      late.catch(() => {});
      over.abort();
    }
  }

  return {
    async ask(endpoint, ask, mayFollow) {
      await help();
      const id = `regatta.pace/${sha256(endpoint.key).slice(0, 16)}`;
      const askedAt = performance.now();
      try {
        const lease = await inTime(() => update(id, endpoint, ask, mayFollow));
        silentSince.delete(id);
        return lease;
      } catch (error) {
        void endWedged(id, askedAt);
        throw error;
      }
    },
    async close() {
      const worker = await helping?.catch(() => undefined);
      await worker?.stop();
    },
  };
}

/** A small worker beside the fleet's own: half a dozen workflows of a few kilobytes, tasks of a millisecond. */
async function startWorker(options: PaceDeskOptions): Promise<{ stop(): Promise<void> }> {
  const { connection, namespace, bundle } = options;
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: queue,
    workflowBundle: { codePath: await bundle() },
    maxCachedWorkflows: 20,
    maxConcurrentWorkflowTaskExecutions: 4,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    // When the process that has a workflow in memory is killed, leases of ten seconds cannot wait for the usual ten.
    stickyQueueScheduleToStartTimeout: '1 second',
  });
  const done = worker.run();
  done.catch(() => {});
  return {
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await done.catch(() => {});
    },
  };
}
