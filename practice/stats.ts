import type { Role } from '../domain/usage.ts';
import type { FaultKind } from './faults.ts';

type Counts = Record<string, number>;

/** What the practice model has seen since it started, or since the last reset; the body of `GET /stats`. */
export type PracticeStats = {
  /** Calls that arrived, whatever became of them. Probes (at most 16 tokens) are counted apart. */
  readonly calls: number;
  readonly probes: number;
  /** Calls that were answered in full. */
  readonly answered: number;
  /** Requests that were refused before a fault was drawn: bad key, unknown model, bad request. */
  readonly rejected: number;
  readonly by_role: Readonly<Counts>;
  readonly by_model: Readonly<Counts>;
  /** Answers by form: `text`, `tool_call`, `schema`, `stream`. */
  readonly by_kind: Readonly<Counts>;
  readonly faults: Readonly<Counts>;
  /** Calls whose very request had met a fault before, and was tried again. */
  readonly after_fault: number;
  /** Calls whose very request had been answered before. Equal requests of different runs count too. */
  readonly repeated: number;
  /** Calls that the client left before the answer. */
  readonly left: number;
  readonly in_flight: number;
  readonly max_in_flight: number;
  readonly conversations: {
    readonly count: number;
    readonly min_calls: number;
    readonly max_calls: number;
    /** The most calls that one conversation had in flight at a time. */
    readonly max_in_flight: number;
  };
};

export type CallStart = {
  readonly role: Role;
  readonly model: string;
  readonly content: string;
  /** What it is part of; absent for calls that belong to no conversation. */
  readonly conversation?: string;
};

/** One call on its way: tell what became of it, once. */
export type CallCount = {
  /** Its number, from 1. */
  readonly call: number;
  /** How often its content has come, from 1. */
  readonly time: number;
  fault(kind: FaultKind): void;
  answered(kind: string): void;
  /** The connection closed: the client left, unless the call was done. */
  left(): void;
  /** No longer in flight; further calls of it change nothing. */
  done(): void;
};

type Seen = { times: number; faults: number; answers: number };
type Conversation = { calls: number; inFlight: number; maxInFlight: number };

/** Above this many the oldest contents are forgotten: a practice model may run for weeks. */
const maxRemembered = 200_000;

export type Tally = {
  start(call: CallStart): CallCount;
  probe(): void;
  reject(): void;
  stats(): PracticeStats;
  /** Calls by conversation, in the order of their first call. */
  conversations(): Readonly<Counts>;
  reset(): void;
};

/** Counts calls. Calls in flight survive a reset only as calls in flight. */
export function createTally(): Tally {
  let now = emptyCounts();
  const flight = { now: 0 };
  return {
    start: (call) => startCall(now, flight, call),
    probe: () => {
      now.probes += 1;
    },
    reject: () => {
      now.rejected += 1;
    },
    stats: () => statsOf(now, flight.now),
    conversations: () => Object.fromEntries([...now.conversations].map(([key, { calls }]) => [key, calls])),
    reset: () => {
      now = emptyCounts();
    },
  };
}

type Tallied = ReturnType<typeof emptyCounts>;

function startCall(counts: Tallied, flight: { now: number }, call: CallStart): CallCount {
  const seen = remember(counts.seen, call.content, () => ({ times: 0, faults: 0, answers: 0 }));
  if (seen.answers > 0) counts.repeated += 1;
  else if (seen.faults > 0) counts.afterFault += 1;
  counts.calls += 1;
  seen.times += 1;
  add(counts.byRole, call.role);
  add(counts.byModel, call.model);
  flight.now += 1;
  counts.maxInFlight = Math.max(counts.maxInFlight, flight.now);
  const leaveConversation = enterConversation(counts, call.conversation);
  let isDone = false;
  const done = () => {
    if (isDone) return;
    isDone = true;
    flight.now -= 1;
    leaveConversation();
  };
  return {
    call: counts.calls,
    time: seen.times,
    fault: (kind) => {
      seen.faults += 1;
      add(counts.faults, kind);
    },
    answered: (kind) => {
      seen.answers += 1;
      counts.answered += 1;
      add(counts.byKind, kind);
      done();
    },
    left: () => {
      if (!isDone) counts.left += 1;
      done();
    },
    done,
  };
}

/** Counts a call of a conversation; the answer is to be called when it is over. */
function enterConversation(counts: Tallied, key: string | undefined): () => void {
  if (key === undefined) return () => {};
  const conversation = remember(counts.conversations, key, () => ({ calls: 0, inFlight: 0, maxInFlight: 0 }));
  conversation.calls += 1;
  conversation.inFlight += 1;
  conversation.maxInFlight = Math.max(conversation.maxInFlight, conversation.inFlight);
  return () => {
    conversation.inFlight -= 1;
  };
}

function emptyCounts() {
  return {
    calls: 0,
    probes: 0,
    answered: 0,
    rejected: 0,
    byRole: { driver: 0, target: 0, judge: 0 } as Counts,
    byModel: {} as Counts,
    byKind: {} as Counts,
    faults: {} as Counts,
    afterFault: 0,
    repeated: 0,
    left: 0,
    maxInFlight: 0,
    seen: new Map<string, Seen>(),
    conversations: new Map<string, Conversation>(),
  };
}

function statsOf(counts: Tallied, inFlight: number): PracticeStats {
  const conversations = [...counts.conversations.values()];
  const calls = conversations.map((conversation) => conversation.calls);
  return {
    calls: counts.calls,
    probes: counts.probes,
    answered: counts.answered,
    rejected: counts.rejected,
    by_role: { ...counts.byRole },
    by_model: { ...counts.byModel },
    by_kind: { ...counts.byKind },
    faults: { ...counts.faults },
    after_fault: counts.afterFault,
    repeated: counts.repeated,
    left: counts.left,
    in_flight: inFlight,
    max_in_flight: counts.maxInFlight,
    conversations: {
      count: conversations.length,
      min_calls: calls.reduce((least, count) => Math.min(least, count), calls[0] ?? 0),
      max_calls: calls.reduce((most, count) => Math.max(most, count), 0),
      max_in_flight: conversations.reduce((most, { maxInFlight }) => Math.max(most, maxInFlight), 0),
    },
  };
}

function add(counts: Counts, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

function remember<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const [oldest] = map.size >= maxRemembered ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  const value = create();
  map.set(key, value);
  return value;
}
