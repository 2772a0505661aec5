import type { CheckResult } from '../../domain/check.ts';
import { endingReason } from '../../domain/ending.ts';
import type { CallEvent } from '../../domain/journal.ts';
import { roleReport } from '../../domain/report-totals.ts';
import type { PlayedRun } from '../../domain/sample.ts';
import { failureOf, outcomeOfRun } from '../../domain/scenario-row.ts';
import type { Message } from '../../domain/transcript.ts';
import { totalUsage } from '../../domain/usage.ts';
import type { Attempt, StoredRun } from '../sweep/read-run.ts';

/** A run as `show RUN_ID --json` prints it; `outcome` is null while it is open. */
export function runJson(stored: StoredRun): object {
  const { run, outcome, result, conversation, opened } = stored;
  const plan = { ...run, tags: result.tags };
  return {
    run: run.id,
    outcome: outcome ?? null,
    ending: result.ending?.kind ?? null,
    ending_reason: (result.ending && endingReason(result.ending)) ?? null,
    blame: result.blame ?? null,
    failure: outcome === undefined ? null : (failureOf({ plan, result: { ...result, outcome } }) ?? null),
    fault: result.fault ?? null,
    generation: result.generation,
    check_set: result.checkSet ?? 0,
    messages: conversation.transcript.map(messageJson),
    checks: result.checks.map(checkJson),
    calls: stored.calls.map(callJson),
    attempts: stored.attempts.map(attemptJson),
    usage: roleReport(totalUsage(result.usage)),
    prompts: opened?.prompts ?? {},
    models: opened?.models ?? {},
  };
}

function messageJson({ by, text, turn, toolCalls, marks, metadata }: Message): object {
  return {
    ...{ by, text, turn, tool_calls: toolCalls },
    ...(marks === undefined ? {} : { marks }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

function checkJson({
  check,
  required,
  verdict,
  score,
  reason,
  failedTurn,
  turns,
  faultCode,
}: CheckResult): object {
  return {
    ...{ check, required, verdict, score: score ?? null, reason },
    ...(failedTurn === undefined ? {} : { failed_turn: failedTurn }),
    ...(turns === undefined ? {} : { turns }),
    ...(faultCode === undefined ? {} : { fault: faultCode }),
  };
}

function callJson({ kind: _kind, ...call }: CallEvent & { readonly at?: number }): object {
  return call;
}

function attemptJson({ writer, startedAt, resumed, events }: Attempt): object {
  return { writer, started_at: startedAt ?? null, resumed, events };
}

/** A run as `show SWEEP_ID --json` lists it. */
export function runLineJson(run: PlayedRun): object {
  const { plan, result } = run;
  return {
    run: plan.id,
    outcome: outcomeOfRun(run),
    ending: result?.ending?.kind ?? null,
    blame: result?.blame ?? null,
    turns: result?.turns ?? 0,
    cost_usd: result === undefined ? 0 : roleReport(totalUsage(result.usage)).cost_usd,
    failure: failureOf(run) ?? null,
  };
}
