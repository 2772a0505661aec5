import type { Client } from '@temporalio/client';
import type { Store } from '../../activities/ports.ts';
import { checkSetOf } from '../../domain/check-set.ts';
import { isJsonObject } from '../../domain/json.ts';
import type { ShardRecord, SweepRecord } from '../../domain/sweep-record.ts';
import { UsageError } from '../../domain/usage-error.ts';
import type { SweepInput } from '../../workflows/messages.ts';

export type Launch = {
  readonly client: Client;
  readonly store: Store;
  readonly record: SweepRecord;
};

/**
 * Puts a new sweep's plan into the store; a sweep of the same id and content is the same sweep.
 * @throws UsageError where the id is taken by another sweep.
 */
export async function storeSweep(
  store: Store,
  record: SweepRecord,
  shards: readonly ShardRecord[],
): Promise<{ readonly record: SweepRecord; readonly isNew: boolean }> {
  if ((await store.createSweep(record, shards)) === 'created') return { record, isNew: true };
  const known = await store.readSweep(record.id);
  if (known?.hash === record.hash) return { record: known, isNew: false };
  throw new UsageError({
    message: `the id ${record.id} is taken by another sweep (other file, flags or modules)`,
    hint: `take another --id, or go on with the old one: regatta resume ${record.id}`,
  });
}

/** What becomes of a launch: a workflow of this sweep was started now, runs already, or ran before and has closed. */
export type Launched = 'started' | 'running' | 'closed';

/** Starts the sweep's workflow, once: two callers at the same time get one workflow. */
export async function startSweep({ client, store, record }: Launch, input: SweepInput): Promise<Launched> {
  const { WorkflowExecutionAlreadyStartedError } = await import('@temporalio/client');
  const known = await statusOf(client, record.id);
  if (known === 'RUNNING') return 'running';
  if (known === undefined) await forgetEnd(store, record.id);
  try {
    await client.workflow.start('sweepWorkflow', {
      workflowId: record.id,
      taskQueue: record.queue,
      args: [{ ...input, store: store.address }],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return 'started';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'closed';
    throw error;
  }
}

/** Starts a sweep anew under its id, from what its store holds; attaches where it still runs. */
export async function restartSweep({ client, store, record }: Launch, input: SweepInput): Promise<Launched> {
  if (await isRunning(client, record.id)) return 'running';
  await forgetEnd(store, record.id);
  await client.workflow.start('sweepWorkflow', {
    workflowId: record.id,
    taskQueue: record.queue,
    args: [{ ...input, store: store.address }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return 'started';
}

/**
 * A sweep that goes on is no longer halted or cancelled, whatever becomes of it: its last report must not say so. Done
 * before the start, so that it never changes what the started workflow writes.
 */
async function forgetEnd(store: Store, sweep: string): Promise<void> {
  const written = await store.readReport(sweep);
  if (!isJsonObject(written) || (written.halted === null && written.cancelled === false)) return;
  await store.putReport(sweep, { ...written, halted: null, cancelled: false });
}

/** Whether a workflow of this sweep is open. */
export async function isRunning(client: Client, sweep: string): Promise<boolean> {
  return (await statusOf(client, sweep)) === 'RUNNING';
}

async function statusOf(client: Client, sweep: string) {
  const { WorkflowNotFoundError } = await import('@temporalio/client');
  try {
    return (await client.workflow.getHandle(sweep).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** The workflow's input for a sweep as it was planned. */
export function inputOf(
  record: SweepRecord,
  how: {
    readonly retry: boolean;
    readonly rejudge?: boolean;
    readonly concurrency?: number;
    readonly budgetUsd?: number;
  },
): SweepInput {
  const { spec, planned } = record;
  const budgetUsd = how.budgetUsd ?? spec.budgetUsd;
  const checkSet = checkSetOf(record);
  return {
    sweep: record.id,
    hash: record.hash,
    runs: planned.runs,
    shards: planned.shards,
    inline: record.inline,
    window: how.concurrency ?? spec.concurrency,
    estimateUsd: (how.rejudge ? record.checkSets?.at(-1)?.estimateUsd : undefined) ?? record.estimateUsd,
    timeouts: spec.timeouts,
    retry: how.retry,
    rejudge: how.rejudge ?? false,
    ...(checkSet === 0 ? {} : { checkSet }),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
  };
}
