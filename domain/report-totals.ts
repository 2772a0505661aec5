import { percentileOf } from './estimators.ts';
import { isMissing } from './outcome.ts';
import type { RunResult } from './run.ts';
import type { PlayedRun } from './sample.ts';
import { addUsage, noUsage, type Role, type RoleUsage, totalUsage, type Usage } from './usage.ts';

type Counts = Readonly<Record<string, number>>;

export type UsageReport = {
  readonly calls: number;
  readonly wasted_calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly estimated: boolean;
};

export type LatencyReport = {
  readonly replies: number;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly max: number | null;
};

export type Totals = {
  readonly usage: UsageReport & {
    readonly probe_calls: number;
    readonly by_role: { readonly [role in Role]: UsageReport };
  };
  /** Runs ended by a fault, and checks left undecided by one, by its code. */
  readonly faults: Counts;
  /** Calls that were tried again, by the code of their fault. */
  readonly retries: Counts;
  readonly endings: Counts;
  /** Why drivers said that they were done. */
  readonly driver_reasons: Counts;
  readonly reply_seconds: LatencyReport;
  readonly disturbances: {
    readonly resumptions: number;
    readonly resent: number;
    readonly restarted: number;
    readonly marked_messages: number;
    readonly sessions_left_open: number;
  };
  /** Epoch milliseconds; null where no run was played. */
  readonly started_at: number | null;
  readonly ended_at: number | null;
};

function add(counts: Record<string, number>, key: string, amount = 1): void {
  counts[key] = (counts[key] ?? 0) + amount;
}

/** Everything that adds up over runs, in one pass. */
export function totalsOf(runs: readonly PlayedRun[], probeCalls: number): Totals {
  let usage = noUsage;
  const faults: Record<string, number> = {};
  const retries: Record<string, number> = {};
  const endings: Record<string, number> = {};
  const reasons: Record<string, number> = {};
  const seconds: { value: number }[] = [];
  const disturbances = { resumptions: 0, resent: 0, restarted: 0, marked_messages: 0, sessions_left_open: 0 };
  let [start, end] = [Infinity, -Infinity];
  for (const { result } of runs) {
    if (result === undefined || result.outcome === 'unplayed') continue;
    usage = addUsage(usage, result.usage);
    countFaults(faults, result);
    for (const [code, count] of Object.entries(result.retries)) add(retries, code, count);
    if (result.ending !== undefined) add(endings, result.ending.kind);
    if (result.ending?.kind === 'driver_done') add(reasons, result.ending.reason);
    if (!isMissing(result.outcome)) for (const value of result.replySeconds) seconds.push({ value });
    disturbances.resumptions += result.resumptions;
    disturbances.resent += result.resent;
    disturbances.restarted += result.restarted;
    disturbances.marked_messages += result.markedMessages;
    disturbances.sessions_left_open += result.sessionNote === undefined ? 0 : 1;
    if (result.startedAt > 0) start = Math.min(start, result.startedAt);
    end = Math.max(end, result.endedAt);
  }
  return {
    usage: usageReport(usage, probeCalls),
    faults,
    retries,
    endings,
    driver_reasons: reasons,
    reply_seconds: latencyReport(seconds),
    disturbances,
    started_at: Number.isFinite(start) ? start : null,
    ended_at: Number.isFinite(end) ? end : null,
  };
}

/** A run is ended by at most one fault; each check that one left undecided counts besides. */
function countFaults(faults: Record<string, number>, result: RunResult): void {
  if (result.outcome === 'broken') add(faults, result.fault?.code ?? 'bug');
  else if (result.ending?.kind === 'target_error') add(faults, result.ending.code);
  for (const check of result.checks) {
    if (check.verdict === 'undecided' && check.faultCode !== undefined) add(faults, check.faultCode);
  }
}

function latencyReport(seconds: { value: number }[]): LatencyReport {
  seconds.sort((a, b) => a.value - b.value);
  const at = (percent: number) => percentileOf(seconds, percent) ?? null;
  return {
    replies: seconds.length,
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    max: seconds.at(-1)?.value ?? null,
  };
}

/** Calls, tokens and money in the shape in which they are published. */
export function roleReport(usage: RoleUsage): UsageReport {
  return {
    calls: usage.calls,
    wasted_calls: usage.wastedCalls,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    // Sums of prices carry rounding errors in their last digits.
    cost_usd: Math.round(usage.costUsd * 1e9) / 1e9,
    estimated: usage.estimated,
  };
}

function usageReport(usage: Usage, probeCalls: number): Totals['usage'] {
  return {
    ...roleReport(totalUsage(usage)),
    probe_calls: probeCalls,
    by_role: {
      driver: roleReport(usage.driver),
      target: roleReport(usage.target),
      judge: roleReport(usage.judge),
    },
  };
}
