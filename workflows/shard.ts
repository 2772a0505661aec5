import {
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { RunSummary } from '../activities/run-work.ts';
import type { DueRun, OpenShard } from '../activities/sweep-io.ts';
import { mayOpen } from '../domain/budget.ts';
import { parseRunId } from '../domain/run-id.ts';
import type { Share } from '../domain/shares.ts';
import { afterRun, haltingEndpoint, haltingStreak, type Streaks } from '../domain/streaks.ts';
import { addTally, endedRuns, type Tally } from '../domain/tally.ts';
import {
  type Halt,
  pauseRunSignal,
  progressSignal,
  type RunInput,
  type ShardEnd,
  type ShardInput,
  type ShardProgress,
  shareSignal,
} from './messages.ts';
import { sweepIo } from './options.ts';
import { closeRun, playRun } from './play-run.ts';
import type { runWorkflow } from './run.ts';
import { createRunControl } from './run-control.ts';

/** A shard whose history has grown so long opens no more runs: another workflow goes on. */
const historyLimit = 6_000;

/** Looks after a slice of a sweep's runs: keeps its share of the window open, tells the sweep, compacts the results. */
export async function shardWorkflow(input: ShardInput): Promise<ShardEnd> {
  const shard = createShard(input, await sweepIo.openShard(openingOf(input)));
  setHandler(shareSignal, shard.setShare);
  try {
    await shard.openRuns();
    await shard.allEnded();
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
  return CancellationScope.nonCancellable(async () => {
    await shard.allEnded();
    await sweepIo.closeShard({ sweep: input.sweep, store: input.store, shard: input.shard });
    return shard.end();
  });
}

function openingOf({ sweep, store, shard, from, retry, rejudge, checkSet }: ShardInput) {
  return { sweep, store, shard, from, retry, rejudge, ...(checkSet === undefined ? {} : { checkSet }) };
}

function createShard(input: ShardInput, plan: OpenShard) {
  let share: Share = input.share;
  let next = 0;
  let tally: Tally = plan.tally;
  let streaks: Streaks = [];
  let halt: Halt | undefined;
  const costs: number[] = [];
  const open = new Set<DueRun>();
  const children = new Map<DueRun, ChildWorkflowHandle<typeof runWorkflow>>();
  const control = createRunControl(share.paused);
  const report = createReporter(input, () => ({
    shard: input.shard,
    tally,
    open: open.size,
    starved: isStarved(),
    ...(halt === undefined ? {} : { halt }),
  }));

  const isFull = () => workflowInfo().historyLength >= historyLimit;
  const isDone = () => next >= plan.runs.length || share.closing || halt !== undefined || isFull();
  const hasMoney = () =>
    share.usd === undefined ||
    mayOpen({
      costs,
      open: open.size,
      spentUsd: tally.usd,
      shareUsd: share.usd,
      estimateUsd: input.estimateUsd,
      openWhileLearning: input.openWhileLearning,
    });
  const canOpen = () => !share.paused && open.size < share.window && hasMoney();
  const isStarved = () => !isDone() && open.size === 0 && !share.paused && share.window > 0 && !hasMoney();

  async function play(run: DueRun): Promise<void> {
    open.add(run);
    const summary = sinceBefore(run, await playSafely(input, run, control, children));
    open.delete(run);
    children.delete(run);
    costs.push(summary.usd);
    tally = addTally(tally, tallyOf(summary));
    const played = !['broken', 'cancelled'].includes(summary.outcome);
    streaks = afterRun(streaks, { ...summary, variant: parseRunId(run.id)?.variant, played });
    halt ??= haltOf(streaks, summary);
    report.ended(halt !== undefined || isStarved());
  }

  return {
    async openRuns(): Promise<void> {
      for (;;) {
        if (isStarved()) report.ended(true);
        await condition(() => isDone() || canOpen());
        if (isDone()) return;
        const run = plan.runs[next];
        next += 1;
        if (run !== undefined) void play(run);
      }
    },
    allEnded: () => condition(() => open.size === 0),
    setShare(fresh: Share): void {
      const turned = fresh.paused !== share.paused;
      share = fresh;
      if (turned) control.setPaused(share.paused);
      if (turned) for (const child of children.values()) void tellRun(child, share.paused);
      if (isStarved()) report.ended(true);
    },
    end: (): ShardEnd => ({
      tally,
      ...(halt === undefined ? {} : { halt }),
      ...(next < plan.runs.length && isFull() && halt === undefined
        ? { next: plan.runs[next]?.index ?? 0 }
        : {}),
    }),
  };
}

/** Plays a run inline or as a child; whatever goes wrong with it, it has an outcome. */
async function playSafely(
  input: ShardInput,
  run: DueRun,
  control: ReturnType<typeof createRunControl>,
  children: Map<DueRun, ChildWorkflowHandle<typeof runWorkflow>>,
): Promise<RunSummary> {
  const { sweep, store, shard, timeouts, inline, checkSet } = input;
  const { id, generation } = run;
  const runInput: RunInput = {
    ...{ sweep, store, shard, run: id, generation, timeouts, inline },
    rejudge: input.rejudge || run.rejudge === true,
    ...(checkSet === undefined ? {} : { checkSet }),
  };
  try {
    if (inline) return await playRun(runInput, control);
    const child = await startChild<typeof runWorkflow>('runWorkflow', {
      workflowId: run.id,
      args: [runInput],
      parentClosePolicy: ParentClosePolicy.TERMINATE,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    });
    children.set(run, child);
    return await child.result();
  } catch (error) {
    return await closeLost(runInput, error);
  }
}

/** What earlier generations of a run have cost is in the tally already. */
function sinceBefore({ spentUsd = 0 }: DueRun, summary: RunSummary): RunSummary {
  return { ...summary, usd: Math.max(0, summary.usd - spentUsd) };
}

const nothingSpent = { calls: 0, wasted: 0, tokens: 0, usd: 0, tried: 0 };

/**
 * What became of a run that could not say so itself: cancelled before it began, or a workflow that was terminated from
 * outside, whose result is written here. One that never began here may be somebody else's, and a conversation that is
 * only judged again keeps its result.
 */
async function closeLost(run: RunInput, error: unknown): Promise<RunSummary> {
  if (isCancellation(error)) return { outcome: 'cancelled', ...nothingSpent };
  if (error instanceof ChildWorkflowFailure && !run.rejudge) {
    const bug = `its workflow was ended from outside: ${error.cause?.message ?? error.message}`;
    try {
      return await CancellationScope.nonCancellable(() => closeRun(run, { cancelled: false, bug }));
    } catch {
      // It stays unplayed in the results, and is played again when the sweep goes on.
    }
  }
  return { outcome: 'broken', code: 'bug', ...nothingSpent };
}

async function tellRun(child: ChildWorkflowHandle<typeof runWorkflow>, paused: boolean): Promise<void> {
  try {
    await child.signal(pauseRunSignal, paused);
  } catch (error) {
    if (isCancellation(error)) return;
    // The run ended before it heard of it.
  }
}

function tallyOf(summary: RunSummary): Tally {
  return {
    outcomes: { [summary.outcome]: 1 },
    faults: summary.outcome === 'broken' ? { [summary.code ?? 'bug']: 1 } : {},
    usd: summary.usd,
    calls: summary.calls,
    wasted: summary.wasted,
    tokens: summary.tokens,
    tried: summary.tried,
  };
}

function haltOf(streaks: Streaks, summary: RunSummary): Halt | undefined {
  const endpoint = haltingEndpoint(streaks);
  if (endpoint === undefined) return undefined;
  return {
    reason: 'configuration',
    detail: `${endpoint}: ${summary.code ?? 'refused'} for ${haltingStreak} runs in a row`,
  };
}

/** Tells the sweep how the shard stands: once every so many ended runs, at once where it matters; one signal at a time. */
function createReporter(input: ShardInput, standing: () => ShardProgress) {
  let told = 0;
  let telling = false;
  let due = false;
  async function tell(): Promise<void> {
    if (telling) return;
    telling = true;
    while (due) {
      due = false;
      const now = standing();
      told = endedRuns(now.tally);
      await tellSweep(input.sweep, now);
    }
    telling = false;
  }
  return {
    ended(atOnce: boolean): void {
      due ||= atOnce || endedRuns(standing().tally) - told >= input.reportEvery;
      if (due) void tell();
    },
  };
}

async function tellSweep(sweep: string, progress: ShardProgress): Promise<void> {
  try {
    await getExternalWorkflowHandle(sweep).signal(progressSignal, progress);
  } catch {
    // A sweep that is gone needs no progress; its shards are told by Temporal.
  }
}
