import type { EndingKind } from '../domain/ending.ts';
import type { Blame, FaultCode } from '../domain/fault.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { RunResult } from '../domain/run.ts';
import { totalUsage } from '../domain/usage.ts';
import type { TargetAsk, TargetHeard } from './queue-turn.ts';

/** Names one run in one generation. */
export type RunRef = {
  readonly sweep: string;
  readonly shard: number;
  readonly run: string;
  readonly generation: number;
  /** Nothing is played: checks of the run are asked again, or others in their place, in this generation. */
  readonly rejudge?: boolean;
  /** The number of the check set that judges; absent: as planned. */
  readonly checkSet?: number;
};

export type ConverseInput = RunRef & {
  /** How long this activity plays before it reports back, in milliseconds. */
  readonly stretchMs: number;
  /** Longest wait for a provider inside the activity, in milliseconds; longer ones go to the workflow. */
  readonly longestWaitMs: number;
  /** What a queue target answered to what the last stretch left for. */
  readonly heard?: TargetHeard;
};

/** How a stretch came back. */
export type StretchEnd =
  /** The run is over: result written, session closed or never opened. */
  | { readonly kind: 'settled'; readonly summary: RunSummary }
  /** The conversation is over; it must be scored, its session closed, or both. */
  | { readonly kind: 'over'; readonly score: boolean; readonly session: boolean }
  /** The stretch is spent; go on at once. */
  | { readonly kind: 'spent' }
  /** The worker drains, or the workflow asked to stop. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'wait'; readonly waitMs: number }
  /** A target on a queue of its own must speak. */
  | { readonly kind: 'ask_target'; readonly queue: string; readonly ask: TargetAsk };

export type ScoreEnd =
  | { readonly kind: 'settled'; readonly summary: RunSummary }
  /** Scored; the session is still open. */
  | { readonly kind: 'scored' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'wait'; readonly waitMs: number };

export type CloseInput = RunRef & {
  /** The run was cancelled before it was scored. */
  readonly cancelled: boolean;
  /** A bug stopped the run: its message. */
  readonly bug?: string;
};

/** What travels in histories of a finished run: small facts, at most 400 bytes. */
export type RunSummary = {
  readonly outcome: Outcome;
  readonly ending?: EndingKind;
  readonly blame?: Blame;
  readonly code?: FaultCode;
  /** Where a fault of configuration came from. */
  readonly endpoint?: string;
  readonly calls: number;
  readonly wasted: number;
  readonly tokens: number;
  readonly usd: number;
  readonly tried: number;
};

/** The small facts of a result. */
export function summaryOf(result: RunResult): RunSummary {
  const usage = totalUsage(result.usage);
  return {
    outcome: result.outcome,
    ...(result.ending === undefined ? {} : { ending: result.ending.kind }),
    ...(result.blame === undefined ? {} : { blame: result.blame }),
    ...(result.fault === undefined ? {} : { code: result.fault.code }),
    ...(result.fault?.endpoint === undefined ? {} : { endpoint: shortened(result.fault.endpoint) }),
    calls: usage.calls,
    wasted: usage.wastedCalls,
    tokens: usage.inputTokens + usage.outputTokens,
    usd: Math.round(usage.costUsd * microsPerUsd) / microsPerUsd,
    tried: Object.values(result.retries).reduce((sum, count) => sum + count, 0),
  };
}

const microsPerUsd = 1e6;

/** At most 120 bytes, also as JSON. */
function shortened(endpoint: string): string {
  return endpoint.replace(/[^\x20-\x7e]|["\\]/g, '?').slice(0, 120);
}
