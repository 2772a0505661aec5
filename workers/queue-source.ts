import { defaultPayloadConverter } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import type { SweepProgress, workflowNames } from '../workflows/messages.ts';

export type Poller = {
  readonly identity: string;
  /** When it last asked for work, in epoch seconds of the server. */
  readonly seenAt: number;
};

export type FoundSweep = {
  /** The sweep's id. */
  readonly sweep: string;
  /** Temporal's id of this execution of it. */
  readonly execution: string;
  readonly isRunning: boolean;
};

/** What Temporal knows of one task queue. Everything rejects where it does not answer within 4 s. */
export type QueueSource = {
  /** Who takes workflow tasks, and how many tasks of each type wait. */
  describe(): Promise<{
    readonly pollers: readonly Poller[];
    readonly backlog: Readonly<Record<'workflow' | 'activity', number>>;
  }>;
  /** Sweeps that run, or ended since then (epoch milliseconds); running ones first. */
  listSweeps(since: number): Promise<readonly FoundSweep[]>;
  /** How a sweep stands; also of one that has ended. Needs a worker that answers. */
  progress(found: FoundSweep): Promise<SweepProgress>;
};

const answerWithinMs = 4_000;
const mostListed = 100;
const sweepType = 'sweepWorkflow' satisfies (typeof workflowNames)['sweep'];
const statusRunning = 1;
const taskTypes = { workflow: 1, activity: 2 } as const;

/** Asks Temporal over a worker's own connection. */
export function queueSource(connection: NativeConnection, namespace: string, queue: string): QueueSource {
  const { workflowService: service } = connection;
  const inTime = <T>(call: () => Promise<T>) => connection.withDeadline(Date.now() + answerWithinMs, call);
  const describe = (taskQueueType: number) =>
    inTime(() =>
      service.describeTaskQueue({
        namespace,
        taskQueue: { name: queue },
        taskQueueType,
        reportStats: true,
        reportPollers: true,
      }),
    );
  return {
    async describe() {
      const [workflow, activity] = await Promise.all([
        describe(taskTypes.workflow),
        describe(taskTypes.activity),
      ]);
      return {
        pollers: (workflow.pollers ?? []).map(({ identity, lastAccessTime }) => ({
          identity: identity ?? '',
          seenAt: Number(lastAccessTime?.seconds ?? 0),
        })),
        backlog: {
          workflow: Number(workflow.stats?.approximateBacklogCount ?? 0),
          activity: Number(activity.stats?.approximateBacklogCount ?? 0),
        },
      };
    },
    async listSweeps(since) {
      const query = [
        `WorkflowType = '${sweepType}'`,
        `TaskQueue = '${queue.replaceAll("'", "''")}'`,
        `(ExecutionStatus = 'Running' OR CloseTime > '${new Date(since).toISOString()}')`,
      ].join(' AND ');
      const { executions } = await inTime(() =>
        service.listWorkflowExecutions({ namespace, query, pageSize: mostListed }),
      );
      return (executions ?? [])
        .map(({ execution, status }) => ({
          sweep: execution?.workflowId ?? '',
          execution: execution?.runId ?? '',
          isRunning: status === statusRunning,
        }))
        .sort((a, b) => Number(b.isRunning) - Number(a.isRunning));
    },
    async progress({ sweep, execution }) {
      const { queryResult } = await inTime(() =>
        service.queryWorkflow({
          namespace,
          execution: { workflowId: sweep, runId: execution },
          query: { queryType: 'progress' },
        }),
      );
      const [payload] = queryResult?.payloads ?? [];
      if (payload === undefined) throw new Error(`the sweep ${sweep} gave no answer`);
      return defaultPayloadConverter.fromPayload<SweepProgress>(payload);
    },
  };
}
