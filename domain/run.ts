import type { CheckResult } from './check.ts';
import type { Ending } from './ending.ts';
import type { Blame, FaultCode } from './fault.ts';
import type { Outcome } from './outcome.ts';
import type { Usage } from './usage.ts';

/** One conversation to play: scenario x repeat (x variant). */
export type RunPlan = {
  /** `<sweep>/<scenario>[@variant]/<repeat>`, path-encoded: names the workflow, the journal and the report row. */
  readonly id: string;
  readonly scenario: string;
  readonly variant?: string;
  /** Counted from 1. */
  readonly repeat: number;
  readonly seed: number;
};

/** What became of one run: one line of the results, written once a generation. */
export type RunResult = {
  readonly schema: 1;
  readonly run: string;
  readonly scenario: string;
  readonly variant?: string;
  readonly repeat: number;
  /** Counted from 1; raised by a restart and by `retry`. The highest counts. */
  readonly generation: number;
  readonly tags: readonly string[];
  /** The number of the check set that it was judged by; absent: as planned. */
  readonly checkSet?: number;
  readonly outcome: Outcome;
  readonly ending?: Ending;
  readonly blame?: Blame;
  readonly fault?: { readonly code: FaultCode; readonly message: string; readonly endpoint?: string };
  readonly checks: readonly CheckResult[];
  readonly turns: number;
  readonly toolCalls: number;
  /** Seconds of each successful reply, without pace waits and retries. */
  readonly replySeconds: readonly number[];
  /** Sum of the times of successful calls. */
  readonly playMs: number;
  readonly usage: Usage;
  /** Faulty calls that were tried again, by code. */
  readonly retries: Readonly<Record<string, number>>;
  /** Writers of the journal after the first. */
  readonly resumptions: number;
  readonly resent: number;
  readonly restarted: number;
  /** Driver messages that were kept although they left their role. */
  readonly markedMessages: number;
  /** What the opt-in judge of the driver said. */
  readonly faithful?: { readonly verdict: 'pass' | 'fail' | 'undecided'; readonly reason: string };
  /** The session could not be closed. */
  readonly sessionNote?: string;
  readonly startedAt: number;
  readonly endedAt: number;
};
