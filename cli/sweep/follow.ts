import type { Client, WorkflowHandle } from '@temporalio/client';
import type { SweepEnd, SweepProgress } from '../../workflows/messages.ts';

export type Followed =
  | { readonly kind: 'ended'; readonly end: SweepEnd }
  /** The workflow was terminated, or has failed. */
  | { readonly kind: 'gone'; readonly reason: string };

/** What is known of a sweep at one moment. */
export type Sighting = {
  readonly progress?: SweepProgress;
  /** Why there is no fresh progress: no worker answers, or what the workers that tried lack. */
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
  void (async () => {
    while (!over && !signal.aborted) {
      const sighting = await look(client, handle);
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
      awaySince ??= Date.now();
      if (Date.now() - awaySince > reconnectMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }
}

async function look(client: Client, handle: WorkflowHandle): Promise<Sighting> {
  try {
    const progress = await client.connection.withDeadline(Date.now() + queryLimitMs, () =>
      handle.query<SweepProgress>('progress'),
    );
    if (progress.state !== 'preflight') return { progress };
    const trouble = await lackOf(handle);
    return { progress, ...(trouble === undefined ? {} : { trouble }) };
  } catch {
    return { trouble: 'no worker answers' };
  }
}

/** What the worker that tried the preflight last lacks. */
async function lackOf(handle: WorkflowHandle): Promise<string | undefined> {
  const { raw } = await handle.describe();
  return (
    raw.pendingActivities?.find((activity) => activity.activityType?.name === 'preflight')?.lastFailure
      ?.message ?? undefined
  );
}
