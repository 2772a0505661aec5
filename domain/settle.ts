import { type Conversation, foldConversation, unopened } from './conversation.ts';
import type { EndingKind } from './ending.ts';
import type { FoldedJournal, JournalEvent } from './journal.ts';
import { outcomeOf } from './outcome.ts';
import type { RunPlan, RunResult } from './run.ts';
import type { Scenario } from './scenario.ts';
import { toolCallsOf, turnsOf } from './transcript.ts';
import { addUsage, noUsage, type Usage } from './usage.ts';

/** The name under which the votes and the check of the opt-in judge of the driver are journaled. */
export const faithfulCheck = 'faithful';

export type Settlement = {
  readonly run: RunPlan;
  readonly scenario: Scenario;
  /** The generation that was asked for: counts where the run never opened. */
  readonly generation: number;
  readonly journal: FoldedJournal;
  /** The number of the check set by which it was judged; default: as planned. */
  readonly checkSet?: number;
  /** The run was cancelled before its conversation was scored. */
  readonly cancelled: boolean;
  readonly sessionNote?: string;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** What became of a run: a pure function of its journal. */
export function settleRun(settlement: Settlement): RunResult {
  const { run, scenario, checkSet = 0 } = settlement;
  const now = playedBy(settlement);
  const { transcript } = now;
  return {
    schema: 1,
    run: run.id,
    scenario: run.scenario,
    ...(run.variant === undefined ? {} : { variant: run.variant }),
    repeat: run.repeat,
    generation: Math.max(now.generation, settlement.generation),
    tags: scenario.tags,
    ...(checkSet === 0 ? {} : { checkSet }),
    ...verdictOf(now, settlement.cancelled),
    ...(now.ending === undefined ? {} : { ending: now.ending }),
    checks: now.checks.filter((result) => result.check !== faithfulCheck),
    turns: turnsOf(transcript),
    toolCalls: toolCallsOf(transcript).length,
    playMs: now.playMs,
    markedMessages: transcript.filter((message) => message.marks !== undefined).length,
    ...faithfulOf(now),
    ...(settlement.sessionNote === undefined ? {} : { sessionNote: settlement.sessionNote }),
    ...countsOf(settlement),
    endedAt: settlement.at,
  };
}

/** Where the conversation stands. A generation that never opened has none, whatever came before it: a bug may have stopped it. */
function playedBy({ journal, generation, cancelled }: Settlement): Conversation {
  const now = foldConversation(journal.events);
  if (now.generation >= generation) return now;
  return cancelled || now.broken === undefined ? unopened : { ...unopened, broken: now.broken };
}

function verdictOf(now: Conversation, cancelled: boolean): Pick<RunResult, 'outcome' | 'blame' | 'fault'> {
  if (now.broken !== undefined) {
    const { code, blame, message, endpoint } = now.broken;
    return {
      outcome: 'broken',
      blame,
      fault: { code, message, ...(endpoint === undefined ? {} : { endpoint }) },
    };
  }
  if (cancelled || now.ending === undefined) return { outcome: 'cancelled' };
  return outcomeOf(
    now.checks.filter((result) => result.check !== faithfulCheck),
    {
      targetError: now.ending.kind === 'target_error',
      driverUnfaithful: now.checks.some(
        (result) => result.check === faithfulCheck && result.verdict === 'fail',
      ),
    },
  );
}

function faithfulOf(now: Conversation): Pick<RunResult, 'faithful'> {
  const result = now.checks.find((check) => check.check === faithfulCheck);
  return result === undefined ? {} : { faithful: { verdict: result.verdict, reason: result.reason } };
}

type Counts = Pick<
  RunResult,
  'usage' | 'retries' | 'replySeconds' | 'resumptions' | 'resent' | 'restarted' | 'startedAt'
>;

/** What the run cost and how often it was disturbed: calls of ignored events and of earlier generations count too. */
function countsOf({ journal, generation, at }: Settlement): Counts {
  const { used, earlier } = generationsOf(journal.events, generation);
  const unused = [...earlier, ...journal.ignored];
  const calls = [...used, ...unused].filter((event) => event.kind === 'call');
  return {
    usage: addUsage(usageOf(used, false), usageOf(unused, true)),
    retries: retriesOf([...used, ...unused]),
    replySeconds: replySeconds(used),
    resumptions: resumptionsOf(journal.events),
    resent: calls.filter((call) => call.resent === true).length,
    restarted: journal.events.filter(isRestart).length,
    startedAt: journal.events.findLast((event) => event.kind === 'opened' && !isRestart(event))?.at ?? at,
  };
}

/** The events of the last generation, and of those before it. */
function generationsOf(events: readonly JournalEvent[], generation: number) {
  const opened = events.findLastIndex((event) => event.kind === 'opened');
  const last = events.findLast((event) => event.kind === 'opened' || event.kind === 'rejudged');
  const from = last !== undefined && last.generation >= generation ? opened : events.length;
  return { earlier: events.slice(0, from), used: events.slice(from) };
}

/** Faulty calls that were tried again, by code: all but those that a fault, an ending or an undecided vote followed. */
function retriesOf(events: readonly JournalEvent[]): Readonly<Record<string, number>> {
  const retries: Record<string, number> = {};
  for (const [index, event] of events.entries()) {
    if (event.kind !== 'call' || event.code === 'ok' || wasLastTry(events[index + 1])) continue;
    retries[event.code] = (retries[event.code] ?? 0) + 1;
  }
  return retries;
}

const endingsByFault: readonly EndingKind[] = ['target_error', 'context_full', 'content_refused'];

function wasLastTry(next: JournalEvent | undefined): boolean {
  if (next?.kind === 'ended') return endingsByFault.includes(next.ending.kind);
  return next?.kind === 'fault' || (next?.kind === 'vote' && next.fault !== undefined);
}

function isRestart(event: JournalEvent): boolean {
  return event.kind === 'opened' && event.because !== undefined && event.because !== 'retry';
}

/** Whether a writer whose last event this is left nothing in flight: it returned in order, or the run was over. */
function leavesNothing(last: JournalEvent | undefined): boolean {
  if (last?.kind === 'check') return last.turn === undefined;
  return last?.kind === 'released' || (last?.kind === 'fault' && last.final);
}

/** How often a worker took over from one that had not returned in order. */
function resumptionsOf(events: readonly JournalEvent[]): number {
  return events.filter((event, at) => event.kind === 'resumed' && at > 0 && !leavesNothing(events[at - 1]))
    .length;
}

function usageOf(events: readonly JournalEvent[], ignored: boolean): Usage {
  let usage = noUsage;
  for (const event of events) {
    if (event.kind !== 'call' || event.code !== 'ok') continue;
    const wasted = ignored || event.wasted === true;
    usage = addUsage(usage, {
      ...noUsage,
      [event.role]: {
        calls: 1,
        wastedCalls: wasted ? 1 : 0,
        inputTokens: event.input_tokens,
        outputTokens: event.output_tokens,
        costUsd: event.cost_usd,
        estimated: event.estimated,
      },
    });
  }
  return usage;
}

/**
 * Seconds of each reply: the successful calls of the target that led to it (a chat target may need several). A call
 * that opened a session counts where the session came with a greeting. What came without a call has no time.
 */
function replySeconds(events: readonly JournalEvent[]): readonly number[] {
  const seconds: number[] = [];
  let ms: number | undefined;
  let opened = false;
  for (const event of events) {
    if (event.kind === 'session') opened = true;
    if (event.kind === 'call') {
      if (opened) ms = undefined;
      opened = false;
      if (event.role === 'target' && event.code === 'ok') ms = (ms ?? 0) + event.ms;
    }
    if (event.kind !== 'message') continue;
    if (event.by === 'target' && ms !== undefined) seconds.push(Math.round(ms) / 1000);
    ms = undefined;
  }
  return seconds;
}
