import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { OnStore } from '../activities/ports.ts';
import type { PaceAsk, PaceLease, PaceLeases } from '../domain/pace-lease.ts';
import type { Share } from '../domain/shares.ts';
import type { Timeouts } from '../domain/sweep-spec.ts';
import type { Tally } from '../domain/tally.ts';
import type { GateVerdict } from '../domain/threshold.ts';

/** Types of workflows, by the names that they are started with. */
export const workflowNames = {
  sweep: 'sweepWorkflow',
  shard: 'shardWorkflow',
  run: 'runWorkflow',
  pace: 'paceWorkflow',
} as const;

export type SweepInput = OnStore & {
  readonly sweep: string;
  /** Of what was planned: the same id with another hash is another sweep. */
  readonly hash: string;
  readonly runs: number;
  readonly shards: number;
  /** Runs are played inside the shard workflow instead of in a workflow each. */
  readonly inline: boolean;
  readonly window: number;
  readonly budgetUsd?: number;
  /** The plan's estimate of what a run costs. */
  readonly estimateUsd: number;
  readonly timeouts: Timeouts;
  /** Plays broken and cancelled runs again, in their next generation. */
  readonly retry: boolean;
  /** Plays nothing: asks the undecided checks of runs that have ended again. */
  readonly rejudge?: boolean;
  /** The number of the check set that judges; absent: as planned. Runs that an earlier one judged are judged again. */
  readonly checkSet?: number;
};

export type HaltReason = 'budget' | 'configuration' | 'sweep_limit' | 'no_worker' | 'bug';

/** Why a sweep opened no more runs before all were played. */
export type Halt = { readonly reason: HaltReason; readonly detail: string };

export type SweepEnd = {
  readonly gate: GateVerdict;
  readonly tally: Tally;
  readonly cancelled: boolean;
  readonly halt?: Halt;
};

export type ShardInput = OnStore & {
  readonly sweep: string;
  readonly shard: number;
  /** Index of the first run to look at: where an earlier workflow of this shard left off. */
  readonly from: number;
  readonly inline: boolean;
  readonly timeouts: Timeouts;
  readonly retry: boolean;
  readonly rejudge: boolean;
  readonly checkSet?: number;
  readonly share: Share;
  readonly estimateUsd: number;
  readonly openWhileLearning: number;
  /** Tell the sweep after so many ended runs. */
  readonly reportEvery: number;
};

export type ShardEnd = {
  readonly tally: Tally;
  /** Where another workflow must go on, as this one's history is full. */
  readonly next?: number;
  /** Why it stopped before its last run. */
  readonly halt?: Halt;
};

export type RunInput = OnStore & {
  readonly sweep: string;
  readonly shard: number;
  readonly run: string;
  readonly generation: number;
  readonly timeouts: Timeouts;
  readonly inline: boolean;
  /** It is only judged: nothing is played. */
  readonly rejudge: boolean;
  readonly checkSet?: number;
};

/** What a shard tells its sweep while it plays. */
export type ShardProgress = {
  readonly shard: number;
  readonly tally: Tally;
  readonly open: number;
  /** Runs wait, none is open, and the budget's share is too small for one more. */
  readonly starved: boolean;
  readonly halt?: Halt;
};

export type PaceInput = {
  /** What the workflow that this one continues had granted. */
  readonly leases?: PaceLeases;
  /** Another workflow may have granted leases that are still alive. */
  readonly mayFollow?: boolean;
};

export type SweepState =
  | 'preflight'
  | 'running'
  | 'paused'
  | 'halting'
  | 'cancelling'
  | 'reporting'
  | 'ended';

export type SweepProgress = {
  readonly state: SweepState;
  readonly runs: number;
  readonly open: number;
  readonly window: number;
  readonly budgetUsd?: number;
  readonly tally: Tally;
  readonly halt?: Halt;
  /** Epoch milliseconds. */
  readonly startedAt: number;
};

export const shareSignal = defineSignal<[Share]>('share');
export const progressSignal = defineSignal<[ShardProgress]>('progress');
export const pauseRunSignal = defineSignal<[boolean]>('pauseRun');

export const progressQuery = defineQuery<SweepProgress>('progress');
export const pauseUpdate = defineUpdate<SweepProgress>('pause');
export const continueUpdate = defineUpdate<SweepProgress>('continue');
/** Changes window and budget of a live sweep. */
export const retuneUpdate = defineUpdate<
  SweepProgress,
  [{ readonly concurrency?: number; readonly budgetUsd?: number }]
>('retune');
/** Asks the workflow of an endpoint for a lease. */
export const leaseUpdate = defineUpdate<PaceLease, [PaceAsk]>('lease');
