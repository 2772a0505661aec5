import type { CheckResult } from './check.ts';
import type { Ending } from './ending.ts';
import type { Blame, FaultCode } from './fault.ts';
import type { Json, JsonObject } from './json.ts';
import type { Side, ToolCall } from './transcript.ts';
import type { Role } from './usage.ts';

/**
 * One event of a run's journal; `at` is epoch milliseconds. A journal is a folder of parts, one a writer; its
 * events are those of the parts in the writers' order, as far as the later parts accept them.
 */
export type JournalEvent = { readonly at: number } & (
  | Resumed
  | Opened
  | SessionEvent
  | MessageEvent
  | ToolCallEvent
  | StateEvent
  | CallEvent
  | VoteEvent
  | CheckEvent
  | RejudgedEvent
  | EndedEvent
  | FaultEvent
  | ReleasedEvent
);

/** Opens a part: how many events of each earlier writer (its own `resumed` included) this writer builds on. */
export type Resumed = { readonly kind: 'resumed'; readonly accepts: Readonly<Record<string, number>> };

/** A conversation begins, from its first message: what comes before belongs to an earlier generation. */
export type Opened = {
  readonly kind: 'opened';
  readonly generation: number;
  readonly seed: number;
  /** Rendered. */
  readonly prompts: Readonly<Record<string, string>>;
  readonly models: Readonly<Record<string, string>>;
  readonly managed: boolean;
  /** The version of the managed block, where the driver's prompt has it. */
  readonly managed_version?: number;
  readonly version: string;
  /**
   * Why it begins again: a call of unknown fate that a live worker saw, or that a dead one left behind
   * (`interrupted`); a session that the target, or its process, lost; a `retry` of the run.
   */
  readonly because?: 'unsure_call' | 'interrupted' | 'lost_session' | 'retry';
};

/** The target opened a session (`open`), renamed it, or closed it. */
export type SessionEvent = {
  readonly kind: 'session';
  readonly open: boolean;
  readonly id?: string;
};

export type MessageEvent = {
  readonly kind: 'message';
  readonly by: Side;
  readonly turn: number;
  readonly text: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly metadata?: JsonObject;
  readonly marks?: readonly string[];
  /** What this message decided: the driver is done after it, or the target hung up with it. */
  readonly ends?: Ending;
};

/** One call of a chat target's tool: after the model asked for it (no `result`), and after it was answered. */
export type ToolCallEvent = {
  readonly kind: 'tool_call';
  readonly turn: number;
  /** Which call of the model in this turn asked for it, from 1. */
  readonly step: number;
  readonly id: string;
  readonly name: string;
  readonly args: Json;
  readonly result?: Json;
  /** Text that the model wrote beside its tool calls. */
  readonly text?: string;
};

/** The state of a chat target's tools after a tool call. */
export type StateEvent = { readonly kind: 'state'; readonly turn: number; readonly state: Json };

/** One call, successful or not. Its tokens and cost count even where its answer was never used. */
export type CallEvent = {
  readonly kind: 'call';
  readonly role: Role;
  readonly turn: number;
  /** The model's key in `models`, or the kind of the target. */
  readonly model: string;
  readonly ms: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly estimated: boolean;
  readonly cost_usd: number;
  /** `ok`, or the code of its fault. */
  readonly code: 'ok' | FaultCode;
  /** A probe, or an answer that was asked for again (an unfit driver message): paid, not used. */
  readonly wasted?: boolean;
  /** Sent a second time after its fate was unknown. */
  readonly resent?: boolean;
  /** A faulty call whose fate is unknown: it may have reached the other side. */
  readonly unsure?: boolean;
  /** How long was waited after this faulty call before the next try. */
  readonly wait_ms?: number;
};

/** One judge's vote. `answer` is what it said, parsed. */
export type VoteEvent = {
  readonly kind: 'vote';
  readonly check: string;
  readonly turn?: number;
  readonly vote: number;
  readonly score?: number;
  readonly verdict: 'pass' | 'fail' | 'undecided';
  readonly reason: string;
  readonly fault?: FaultCode;
};

/** A check's result: of one turn while the conversation goes on (`turn`), or of the whole run. */
export type CheckEvent = { readonly kind: 'check'; readonly turn?: number; readonly result: CheckResult };

/** Checks of a conversation that is over are asked again, or others in their place: what was said of them is forgotten. */
export type RejudgedEvent = {
  readonly kind: 'rejudged';
  readonly generation: number;
  readonly checks: readonly string[];
  /** The number of the check set by which it is judged from here on; absent: as planned. */
  readonly check_set?: number;
};

export type EndedEvent = { readonly kind: 'ended'; readonly ending: Ending };

/** Something broke. `final`: and the run is broken by it. */
export type FaultEvent = {
  readonly kind: 'fault';
  readonly code: FaultCode;
  readonly blame: Blame;
  readonly role: Role;
  readonly message: string;
  readonly endpoint?: string;
  readonly final: boolean;
};

/** The writer returned in order: nothing was in flight. */
export type ReleasedEvent = { readonly kind: 'released' };

/** One writer's part of a journal. `writer` is `<scheduled ms>-<attempt>-<nonce>`. */
export type JournalPart = { readonly writer: string; readonly events: readonly JournalEvent[] };

/** Events in order, each with whether a later writer accepted it (ignored calls still cost money). */
export type FoldedJournal = {
  readonly events: readonly JournalEvent[];
  readonly ignored: readonly JournalEvent[];
  /** How many events of each writer were accepted; what the next writer's `resumed` says. */
  readonly accepts: Readonly<Record<string, number>>;
  readonly writers: number;
};

/** The order of two writers: by scheduled time, then attempt, then nonce. Negative where `a` comes first. */
export function compareWriters(a: string, b: string): number {
  const [aScheduled = '', aAttempt = '', ...aNonce] = a.split('-');
  const [bScheduled = '', bAttempt = '', ...bNonce] = b.split('-');
  return (
    Number(aScheduled) - Number(bScheduled) ||
    Number(aAttempt) - Number(bAttempt) ||
    compareText(aNonce.join('-'), bNonce.join('-'))
  );
}

/**
 * The events that hold. The last writer's word counts: of each earlier part only as many events as it accepted;
 * a part that it did not know (created later by a lower writer) is ignored whole. Where an accepted event is gone
 * (a machine went down before a part was flushed), everything that was built on it is ignored too.
 */
export function foldJournal(parts: readonly JournalPart[]): FoldedJournal {
  const written = parts
    .filter((part) => part.events.length > 0)
    .toSorted((a, b) => compareWriters(a.writer, b.writer));
  const accepted = acceptedByLast(written);
  const damaged = firstDamaged(written, accepted);
  const events: JournalEvent[] = [];
  const ignored: JournalEvent[] = [];
  const accepts: Record<string, number> = {};
  for (const { writer, events: all } of written) {
    const isBuiltOnDamage = damaged !== undefined && compareWriters(writer, damaged) > 0;
    const count = isBuiltOnDamage ? 0 : Math.min(all.length, accepted[writer] ?? 0);
    events.push(...all.slice(0, count));
    ignored.push(...all.slice(count));
    accepts[writer] = count;
  }
  return { events, ignored, accepts, writers: written.length };
}

/** What the last part accepts of each part, and all of itself. */
function acceptedByLast(written: readonly JournalPart[]): Readonly<Record<string, number>> {
  const last = written.at(-1);
  if (last === undefined) return {};
  const opening = last.events[0];
  const earlier = opening?.kind === 'resumed' ? opening.accepts : {};
  return { ...earlier, [last.writer]: last.events.length };
}

/** The first writer of whom fewer events are left than were accepted. */
function firstDamaged(
  written: readonly JournalPart[],
  accepted: Readonly<Record<string, number>>,
): string | undefined {
  const left = new Map(written.map((part) => [part.writer, part.events.length]));
  return Object.keys(accepted)
    .filter((writer) => (left.get(writer) ?? 0) < (accepted[writer] ?? 0))
    .toSorted(compareWriters)[0];
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
