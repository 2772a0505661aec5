import {
  CancellationScope,
  ChildWorkflowCancellationType,
  type ChildWorkflowHandle,
  condition,
  isCancellation,
  ParentClosePolicy,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { openWhileLearning } from '../domain/budget.ts';
import { liveShards, type Share, splitBudget, splitWindow } from '../domain/shares.ts';
import { addTally, emptyTally, type Tally } from '../domain/tally.ts';
import {
  continueUpdate,
  type Halt,
  pauseUpdate,
  progressQuery,
  progressSignal,
  retuneUpdate,
  type ShardEnd,
  type ShardProgress,
  type SweepEnd,
  type SweepInput,
  type SweepProgress,
  type SweepState,
  shareSignal,
} from './messages.ts';
import { sweepIo } from './options.ts';
import { preflight } from './preflight.ts';
import type { shardWorkflow } from './shard.ts';

/** All runs of one sweep: preflight, the shards with their shares of window and budget, the report and its gate. */
export async function sweepWorkflow(input: SweepInput): Promise<SweepEnd> {
  const sweep = createSweep(input);
  setHandler(progressQuery, sweep.progress);
  setHandler(progressSignal, sweep.heardFrom);
  setHandler(pauseUpdate, () => sweep.setPaused(true));
  setHandler(continueUpdate, () => sweep.setPaused(false));
  setHandler(retuneUpdate, sweep.retune);
  try {
    const checked = await preflight(input);
    sweep.passedPreflight(checked.halt, checked.probeCalls);
    await sweep.playShards();
  } catch (error) {
    if (!isCancellation(error)) throw error;
    sweep.cancelled();
  }
  return CancellationScope.nonCancellable(async () => {
    await sweep.allEnded();
    return sweep.report();
  });
}

/** A shard, or the rest of one, that waits to be played. */
type Waiting = { readonly shard: number; readonly from: number };

type LiveShard = Waiting & {
  handle?: ChildWorkflowHandle<typeof shardWorkflow>;
  tally: Tally;
  open: number;
  starved: boolean;
};

function createSweep(input: SweepInput) {
  const startedAt = workflowInfo().startTime.getTime();
  let state: SweepState = 'preflight';
  let paused = false;
  let window = input.window;
  let budgetUsd = input.budgetUsd;
  let halt: Halt | undefined;
  let probeCalls = 0;
  /** What is left of the budget is with the first live shard alone, as no equal part of it is enough for a run. */
  let concentrated = false;
  let ended: Tally = emptyTally;
  const waiting: Waiting[] = Array.from({ length: input.shards }, (_, shard) => ({ shard, from: 0 }));
  const live = new Set<LiveShard>();

  const isClosing = () => halt !== undefined || state === 'cancelling';
  const tally = () => [...live].reduce((sum, shard) => addTally(sum, shard.tally), ended);
  const progress = (): SweepProgress => ({
    state,
    runs: input.runs,
    open: [...live].reduce((sum, shard) => sum + shard.open, 0),
    window,
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
    tally: tally(),
    ...(halt === undefined ? {} : { halt }),
    startedAt,
  });

  /** The shares of the live shards, in their order; they sum to the whole. */
  function shares(): readonly Share[] {
    const windows = splitWindow(window, live.size);
    const spent = [...live].map((shard) => shard.tally.usd);
    const budgets =
      budgetUsd === undefined
        ? undefined
        : splitBudget({ budgetUsd, spentElsewhere: ended.usd, spent, concentrated });
    return windows.map((part, index) => {
      const usd = budgets?.[index];
      return { window: part, paused, closing: isClosing(), ...(usd === undefined ? {} : { usd }) };
    });
  }

  function share(): void {
    const parts = shares();
    [...live].forEach((shard, index) => {
      const part = parts[index];
      if (part !== undefined && shard.handle !== undefined) void tellShard(shard.handle, part);
    });
  }

  function halted(reason: Halt): void {
    if (halt !== undefined) return;
    halt = reason;
    if (state !== 'cancelling') state = 'halting';
    share();
  }

  function heardFrom(news: ShardProgress): void {
    const shard = [...live].find((candidate) => candidate.shard === news.shard);
    if (shard === undefined) return;
    shard.tally = news.tally;
    shard.open = news.open;
    shard.starved = news.starved;
    if (news.halt !== undefined) halted(news.halt);
    if (budgetUsd === undefined) return;
    if (![...live].every((each) => each.starved)) return;
    if (concentrated || live.size === 1) halted(budgetHalt(budgetUsd));
    concentrated = true;
    share();
  }

  async function playShard(shard: LiveShard): Promise<void> {
    try {
      const at = [...live].indexOf(shard);
      const part = shares()[at] ?? { window: 0, paused, closing: true };
      shard.handle = await startChild<typeof shardWorkflow>('shardWorkflow', {
        workflowId: `${input.sweep}#shard-${shard.shard}${shard.from === 0 ? '' : `-from-${shard.from}`}`,
        args: [shardInput(input, shard, part)],
        parentClosePolicy: ParentClosePolicy.TERMINATE,
        cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      });
      share();
      shardEnded(shard, await shard.handle.result());
    } catch (error) {
      if (!isCancellation(error))
        halted({ reason: 'bug', detail: `shard ${shard.shard}: ${causeOf(error)}` });
    } finally {
      live.delete(shard);
      concentrated = false;
      if (live.size > 0) share();
    }
  }

  function shardEnded(shard: LiveShard, end: ShardEnd): void {
    ended = addTally(ended, end.tally);
    shard.tally = emptyTally;
    if (end.halt !== undefined) halted(end.halt);
    if (end.next !== undefined) waiting.unshift({ shard: shard.shard, from: end.next });
  }

  return {
    progress,
    heardFrom,
    passedPreflight(found: Halt | undefined, calls: number): void {
      probeCalls = calls;
      if (state === 'preflight') state = paused ? 'paused' : 'running';
      if (found !== undefined) halted(found);
    },
    async playShards(): Promise<void> {
      const limit = async () => {
        if (await condition(() => waiting.length === 0 && live.size === 0, input.timeouts.sweepMs)) return;
        halted({
          reason: 'sweep_limit',
          detail: `the sweep took longer than ${input.timeouts.sweepMs / 1000} s`,
        });
      };
      const watch = new CancellationScope();
      void watch.run(limit).catch(() => {});
      for (;;) {
        await condition(() => isClosing() || waiting.length === 0 || live.size < liveShards(window));
        const next = isClosing() ? undefined : waiting.shift();
        if (next === undefined) {
          await condition(() => live.size === 0 || (waiting.length > 0 && !isClosing()));
          if (live.size === 0 && (isClosing() || waiting.length === 0)) break;
          continue;
        }
        const shard: LiveShard = { ...next, tally: emptyTally, open: 0, starved: false };
        live.add(shard);
        void playShard(shard);
      }
      watch.cancel();
    },
    allEnded: () => condition(() => live.size === 0),
    cancelled(): void {
      state = 'cancelling';
    },
    setPaused(wanted: boolean): SweepProgress {
      paused = wanted;
      if (state === 'running' || state === 'paused') state = paused ? 'paused' : 'running';
      share();
      return progress();
    },
    retune(change: { readonly concurrency?: number; readonly budgetUsd?: number }): SweepProgress {
      window = change.concurrency ?? window;
      budgetUsd = change.budgetUsd ?? budgetUsd;
      concentrated = false;
      share();
      return progress();
    },
    async report(): Promise<SweepEnd> {
      const cancelled = state === 'cancelling';
      state = 'reporting';
      const { gate } = await sweepIo.writeReport({
        sweep: input.sweep,
        store: input.store,
        probeCalls,
        cancelled,
        ...(halt === undefined ? {} : { halt }),
      });
      state = 'ended';
      return { gate, tally: tally(), cancelled, ...(halt === undefined ? {} : { halt }) };
    },
  };
}

function shardInput(input: SweepInput, { shard, from }: Waiting, share: Share) {
  const shards = Math.min(input.shards, liveShards(input.window));
  return {
    sweep: input.sweep,
    store: input.store,
    shard,
    from,
    inline: input.inline,
    timeouts: input.timeouts,
    retry: input.retry,
    rejudge: input.rejudge ?? false,
    ...(input.checkSet === undefined ? {} : { checkSet: input.checkSet }),
    share,
    estimateUsd: input.estimateUsd,
    openWhileLearning: Math.max(1, Math.floor(openWhileLearning / shards)),
    reportEvery: Math.max(1, Math.floor(input.runs / 100)),
  };
}

function budgetHalt(budgetUsd: number): Halt {
  return { reason: 'budget', detail: `the budget of $${budgetUsd} leaves no room for another run` };
}

async function tellShard(handle: ChildWorkflowHandle<typeof shardWorkflow>, share: Share): Promise<void> {
  try {
    await handle.signal(shareSignal, share);
  } catch {
    // The shard has closed: its share goes back to the others when its result is read.
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
