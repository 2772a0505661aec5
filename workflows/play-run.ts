import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { OnStore } from '../activities/ports.ts';
import type { TargetHeard } from '../activities/queue-turn.ts';
import type { RunRef, RunSummary, StretchEnd } from '../activities/run-work.ts';
import type { RunInput } from './messages.ts';
import { runActivities, stretchOf } from './options.ts';
import type { RunControl } from './run-control.ts';
import { askTarget } from './target-queue.ts';

/**
 * One conversation, from its first stretch to its result: stretches, then scoring, then the session is closed.
 * Called by `runWorkflow`, or inline by the shard. It always has an outcome: a bug breaks the run.
 */
export async function playRun(input: RunInput, control: RunControl): Promise<RunSummary> {
  const ref = refOf(input);
  try {
    const over = input.rejudge ? toBeScored : await converseToTheEnd(input, ref, control);
    if (over.kind === 'settled') return over.summary;
    if (over.score) {
      const scored = await scoreToTheEnd(input, ref, control);
      if (scored !== undefined) return scored;
    }
    return await CancellationScope.nonCancellable(() => closeRun(input, { cancelled: false }));
  } catch (error) {
    const cancelled = isCancellation(error);
    const bug = cancelled ? {} : { bug: String(error instanceof Error ? (error.cause ?? error) : error) };
    return CancellationScope.nonCancellable(() => closeRun(input, { cancelled, ...bug }));
  }
}

const toBeScored = { kind: 'over', score: true, session: false } as const;

type Over = Extract<StretchEnd, { kind: 'settled' | 'over' }>;

async function converseToTheEnd(input: RunInput, ref: RunRef, control: RunControl): Promise<Over> {
  let heard: TargetHeard | undefined;
  for (let first = true; ; first = false) {
    await control.unpaused();
    const { converse } = runActivities(input, first);
    const told = { ...ref, ...stretchOf(input), ...(heard === undefined ? {} : { heard }) };
    const end = await control.stoppable(() => converse(told));
    // One that was stopped may not have come to what it was told.
    if (end !== undefined && end.kind !== 'stopped') heard = undefined;
    switch (end?.kind) {
      case 'settled':
      case 'over':
        return end;
      case 'wait':
        await sleep(end.waitMs);
        break;
      case 'ask_target':
        heard = await askTarget(end.queue, end.ask, input.timeouts.callMs);
        break;
      case 'spent':
      case 'stopped':
      case undefined:
        break;
    }
  }
}

/** The summary where scoring settled the run; undefined where its session must still be closed. */
async function scoreToTheEnd(
  input: RunInput,
  ref: RunRef,
  control: RunControl,
): Promise<RunSummary | undefined> {
  const { score } = runActivities(input, false);
  for (;;) {
    await control.unpaused();
    const end = await control.stoppable(() => score({ ...ref, ...stretchOf(input) }));
    switch (end?.kind) {
      case 'settled':
        return end.summary;
      case 'scored':
        return undefined;
      case 'wait':
        await sleep(end.waitMs);
        break;
      case 'stopped':
      case undefined:
        break;
    }
  }
}

/** The last thing that happens to a run: its session is closed, its result written. */
export function closeRun(
  input: RunInput,
  how: { readonly cancelled: boolean; readonly bug?: string },
): Promise<RunSummary> {
  return runActivities(input, false).closeSession({ ...refOf(input), ...how });
}

function refOf({ sweep, store, shard, run, generation, rejudge, checkSet }: RunInput): RunRef & OnStore {
  return {
    ...{ sweep, store, shard, run, generation },
    ...(rejudge ? { rejudge } : {}),
    ...(checkSet === undefined ? {} : { checkSet }),
  };
}
