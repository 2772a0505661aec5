import type { Client, WorkflowHandle } from '@temporalio/client';
import { systemClock } from '../../adapters/clock.ts';
import type { SweepEnd, SweepProgress } from '../../workflows/messages.ts';

export type Followed =
  | { readonly kind: 'ended'; readonly end: SweepEnd }
  /** The workflow was terminated, or has failed. */
  | { readonly kind: 'gone'; readonly reason: string };

/** What is known of a sweep at one moment. */
export type Sighting = {
  readonly progress?: SweepProgress;
  /** Why there is no fresh progress: no worker answers, what the workers that tried lack, or what holds runs up. */
  readonly trouble?: string;
};

const lookEveryMs = 1_000;
const queryLimitMs = 5_000;
/** How long a Temporal that is away is waited for. */
const reconnectMs = 5 * 60_000;
/** gRPC's DEADLINE_EXCEEDED, CANCELLED and UNAVAILABLE. */
const awayStatuses: readonly number[] = [1, 4, 14];

/** Follows a sweep's workflow until it has closed; `onSight` is told about once a second how it stands. */
export async function followSweep(
  client: Client,
  sweep: string,
  onSight: (sighting: Sighting) => void,
  signal: AbortSignal,
): Promise<Followed | undefined> {
  const handle = client.workflow.getHandle(sweep);
  let over = false;
  const ended = readEnd(handle).finally(() => {
    over = true;
  });
  ended.catch(() => {});
  const left = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const look = createLook(client, handle);
  void (async () => {
    while (!over && !signal.aborted) {
      const sighting = await look();
      if (!over && !signal.aborted) onSight(sighting);
      await Promise.race([
        ended.catch(() => {}),
        left,
        new Promise((resolve) => setTimeout(resolve, lookEveryMs)),
      ]);
    }
  })();
  return Promise.race([ended, left]);
}

/** The sweep's end; a Temporal that is away for a while is asked again. */
async function readEnd(handle: WorkflowHandle): Promise<Followed> {
  for (let awaySince: number | undefined; ; ) {
    try {
      return { kind: 'ended', end: (await handle.result()) as SweepEnd };
    } catch (error) {
      const { WorkflowFailedError, isGrpcServiceError } = await import('@temporalio/client');
      if (error instanceof WorkflowFailedError) {
        const cause = error.cause instanceof Error ? error.cause.message : error.message;
        return { kind: 'gone', reason: cause };
      }
      if (!isGrpcServiceError(error) || !awayStatuses.includes(error.code)) throw error;
      awaySince ??= systemClock.now();
      if (systemClock.now() - awaySince > reconnectMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }
}

/** How long nothing may have moved before somebody asks why: asking costs a few calls. */
const stillMs = 5_000;

function createLook(client: Client, handle: WorkflowHandle): () => Promise<Sighting> {
  let seen = { facts: '', since: 0 };
  return async () => {
    try {
      const progress = await client.connection.withDeadline(systemClock.now() + queryLimitMs, () =>
        handle.query<SweepProgress>('progress'),
      );
      const facts = JSON.stringify(progress);
      if (facts !== seen.facts) seen = { facts, since: systemClock.now() };
      const isStill = progress.state !== 'paused' && systemClock.now() - seen.since >= stillMs;
      const asks = isStill || progress.state === 'preflight';
      const trouble = asks ? await troubleOf(client, handle.workflowId, isStill) : undefined;
      return { progress, ...(trouble === undefined ? {} : { trouble }) };
    } catch {
      return { trouble: 'no worker answers' };
    }
  };
}

/** Of so many shards, and of so many runs of each, the activities are looked at. */
const childrenAsked = 2;

/** Why an activity of this workflow, or of its first children, failed the last time it was tried. */
async function troubleOf(client: Client, workflow: string, deep: boolean): Promise<string | undefined> {
  const { raw } = await client.workflow.getHandle(workflow).describe();
  const failed = raw.pendingActivities?.find((activity) => activity.lastFailure?.message);
  if (failed?.lastFailure?.message) return failed.lastFailure.message;
  if (!deep) return undefined;
  for (const child of raw.pendingChildren?.slice(0, childrenAsked) ?? []) {
    const trouble = child.workflowId
      ? await troubleOf(client, child.workflowId, true).catch(() => undefined)
      : undefined;
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}
