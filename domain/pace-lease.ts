import { divide } from './divide.ts';

/** What an endpoint grants, or a part of it; what is absent was never declared. */
export type PaceAmounts = {
  /** Calls in flight, a whole number. */
  readonly maxInFlight?: number;
  /** Calls a minute, a whole number where it is a part. */
  readonly rpm?: number;
  /** Tokens a minute. */
  readonly tpm?: number;
};

/** `max_in_flight` where it is not declared: the ceiling of a process. */
export const undeclaredInFlight = 256;

/** What an endpoint declares for all workers together; undefined where that is nothing. */
export function wholeOf(model: PaceAmounts): PaceAmounts | undefined {
  const whole = amounts((kind) =>
    kind === 'maxInFlight' && model.maxInFlight === undeclaredInFlight ? undefined : model[kind],
  );
  return Object.keys(whole).length === 0 ? undefined : whole;
}

/** What a worker wants of an endpoint; counted since it asked last. */
export type PaceDemand = {
  /** Calls in flight right now. */
  readonly inFlight: number;
  /** The most calls that were in flight or waited at a time; at least 1. */
  readonly calls: number;
  /** Calls and tokens a minute that were sent. */
  readonly rpm: number;
  readonly tpm: number;
  /** Whether calls waited for nothing but the worker's share. */
  readonly isShort: boolean;
  /** The order of the oldest run that called or waits: smaller is older. */
  readonly oldest: number;
};

/** A worker asks for a lease; without a demand it gives its lease back. */
export type PaceAsk = {
  readonly holder: string;
  /** Counts the asks of a holder from 1: one that arrives late is known by it. */
  readonly number: number;
  /** The ask whose lease the holder keeps to until this one is answered; absent: it calls nothing. */
  readonly keeps?: number;
  readonly whole: PaceAmounts;
  readonly demand?: PaceDemand;
};

/** Leave to call an endpoint at that pace, for a time that counts from when the ask was sent. */
export type PaceLease = {
  /** Undefined: no calls for now. */
  readonly share?: PaceAmounts;
  readonly lifeMs: number;
  /** When to ask again: long before the lease ends, sooner where more is due or something must be passed on. */
  readonly renewInMs: number;
};

type Holder = {
  readonly id: string;
  /** Of the last ask that was heard. */
  readonly number: number;
  readonly whole: PaceAmounts;
  readonly demand: PaceDemand;
  /** Undefined: no calls for now. */
  readonly granted: PaceAmounts | undefined;
  /** All that the holder may be using: an answer may be on its way, or be lost. Nobody else gets it before `until`. */
  readonly booked: PaceAmounts;
  readonly until: number;
  /** Since when it has a share, or wants one in vain. */
  readonly since: number;
};

/** Who holds which part of an endpoint's pace. Times are of one clock, in milliseconds. */
export type PaceLeases = {
  readonly holders: readonly Holder[];
  /** Until then nothing is granted: leases of which nothing is known may be alive. */
  readonly quietUntil: number;
};

const kinds = ['maxInFlight', 'rpm', 'tpm'] as const;

/** How long a lease lives in a small fleet. A killed worker's share is back after it. */
export const leaseLifeMs = 10_000;
/** A large fleet asks less often, for longer: so many asks a second are no burden to one workflow. */
const mostAsksPerSecond = 10;
/** A newcomer asks so often until others have made room. */
const impatienceMs = 1_000;
/** Every holder keeps one call of a minute back, so parts of a minute's calls are not made smaller than this. */
const leastRpm = 15;
/** Where there are fewer shares than workers: how long one is kept at least, and half of how long one is waited for. */
const turnMs = leaseLifeMs / 2;
/** At an endpoint of fewer calls a minute than `leastRpm`: in a shorter turn hardly a call would be due. */
const slowTurnMs = 60_000;
/** What a worker may have above what it used, so that it can do more. */
const headroom = 1.15;
/** A share that is so much off what is due is left alone: shifting single calls to and fro costs asks. */
const tolerance = 1.1;

export const noLeases: PaceLeases = { holders: [], quietUntil: 0 };

/** The leases of one who cannot know what was granted before: nothing is granted for one life. */
export function quietLeases(now: number): PaceLeases {
  return { holders: [], quietUntil: now + leaseLifeMs };
}

/** Whether nobody holds or wants anything. */
export function areIdle(leases: PaceLeases, now: number): boolean {
  return leases.holders.every(({ until }) => until <= now);
}

/**
 * Answers an ask. Only what is free is granted: what no live lease may be using. Shares follow demand. Where there are
 * not enough for all workers, those with the oldest runs have them, and who has waited for two turns is next.
 */
export function grantLease(
  leases: PaceLeases,
  ask: PaceAsk,
  now: number,
): { readonly leases: PaceLeases; readonly lease: PaceLease } {
  const live = leases.holders.filter(({ until }) => until > now);
  const before = live.find(({ id }) => id === ask.holder);
  const others = live.filter(({ id }) => id !== ask.holder);
  const timing = timingOf(others.length + 1);
  if (before !== undefined && ask.number <= before.number) return { leases, lease: timing };
  if (ask.demand === undefined) return { leases: { ...leases, holders: others }, lease: timing };
  const asker = readAsk(ask, ask.demand, before, now);
  const isQuiet = now < leases.quietUntil;
  const { share, renewInMs } = isQuiet
    ? { share: undefined, renewInMs: leases.quietUntil - now }
    : decide(asker, others, now);
  const holder: Holder = {
    ...asker,
    granted: share,
    booked: most(asker.booked, share ?? {}),
    until: now + timing.lifeMs,
    since: (share === undefined) === (before?.granted === undefined) ? asker.since : now,
  };
  return {
    leases: { ...leases, holders: [...others, holder] },
    lease: {
      ...(share === undefined ? {} : { share }),
      lifeMs: timing.lifeMs,
      renewInMs: renewInMs ?? timing.renewInMs,
    },
  };
}

function timingOf(holders: number): { readonly lifeMs: number; readonly renewInMs: number } {
  const renewInMs = Math.max(leaseLifeMs / 2, (holders * 1000) / mostAsksPerSecond);
  return { lifeMs: 2 * renewInMs, renewInMs };
}

/** The asker before anything new is granted: `booked` is what it keeps to, and its calls in flight. */
function readAsk(ask: PaceAsk, demand: PaceDemand, before: Holder | undefined, now: number): Holder {
  const known = ask.keeps === before?.number ? before?.granted : before?.booked;
  const kept = ask.keeps === undefined ? undefined : known;
  return {
    id: ask.holder,
    number: ask.number,
    whole: ask.whole,
    demand,
    granted: kept,
    booked: most(kept ?? {}, { maxInFlight: demand.inFlight }),
    until: now,
    since: before?.since ?? now,
  };
}

/** What is due to the asker and free; asks sooner where more is due, or where another waits for what it loses. */
function decide(
  asker: Holder,
  others: readonly Holder[],
  now: number,
): { readonly share: PaceAmounts | undefined; readonly renewInMs?: number } {
  const all = [asker, ...others];
  const whole = all.map((holder) => holder.whole).reduce(leastOf);
  const due = dueTo(whole, inTurn(whole, all, now));
  const isOtherShort = others.some((other) => isShortOf(due.get(other.id), other.booked));
  const own = due.get(asker.id);
  const share = own && grantOf({ asker, own, whole, others, isOtherShort });
  const kept = asker.granted ?? {};
  const isLess = kinds.some((kind) => (kept[kind] ?? 0) > (share?.[kind] ?? 0));
  if (isLess && isOtherShort) return { share, renewInMs: 0 };
  return isShortOf(own, share ?? {}) ? { share, renewInMs: impatienceMs } : { share };
}

/** Those who are to have a share, the first in turn first: as many as there are shares worth having. */
function inTurn(whole: PaceAmounts, all: readonly Holder[], now: number): readonly Holder[] {
  const { maxInFlight = Number.POSITIVE_INFINITY, rpm = Number.POSITIVE_INFINITY } = whole;
  const turn = rpm < leastRpm ? slowTurnMs : turnMs;
  const rank = ({ granted, since }: Holder): number => {
    if (granted !== undefined) return now - since < turn ? 0 : 2;
    return now - since >= 2 * turn ? 1 : 2;
  };
  const before = (a: Holder, b: Holder): number =>
    rank(a) - rank(b) ||
    (rank(a) === 1 ? a.since - b.since : 0) ||
    a.demand.oldest - b.demand.oldest ||
    (a.id < b.id ? -1 : 1);
  const seats = Math.max(1, Math.min(Math.floor(maxInFlight), Math.floor(rpm / leastRpm)));
  return [...all].sort(before).slice(0, seats);
}

/** What each of them is to have in the end. */
function dueTo(whole: PaceAmounts, holders: readonly Holder[]): ReadonlyMap<string, PaceAmounts> {
  // A part that nobody shares needs no rounding.
  if (holders.length === 1) return new Map(holders.map(({ id }) => [id, whole]));
  const parts = kinds.map((kind) => {
    const total = whole[kind];
    if (total === undefined) return undefined;
    const wants = holders.map(({ demand }) => ({ weight: demand.calls, cap: usefulOf(kind, demand) }));
    return divide(total, wants, { maxInFlight: 1, rpm: leastRpm, tpm: 1 }[kind]);
  });
  return new Map(
    holders.map(({ id }, index) => [id, amounts((kind) => parts[kinds.indexOf(kind)]?.[index])]),
  );
}

function usefulOf(kind: (typeof kinds)[number], demand: PaceDemand): number {
  if (kind === 'maxInFlight') return demand.calls;
  return demand.isShort ? Number.POSITIVE_INFINITY : Math.ceil(demand[kind] * headroom);
}

type Deciding = {
  readonly asker: Holder;
  readonly own: PaceAmounts;
  readonly whole: PaceAmounts;
  readonly others: readonly Holder[];
  readonly isOtherShort: boolean;
};

function grantOf({ asker, own, whole, others, isOtherShort }: Deciding): PaceAmounts | undefined {
  const share = amounts((kind) => {
    const due = own[kind];
    if (due === undefined) return undefined;
    const free = (whole[kind] ?? 0) - others.reduce((sum, { booked }) => sum + (booked[kind] ?? 0), 0);
    const kept = asker.granted?.[kind] ?? 0;
    const isNearEnough = !isOtherShort && kept >= due && kept <= due * tolerance;
    return Math.max(0, Math.min(isNearEnough ? kept : due, free));
  });
  // A part of one kind is worth nothing without the others.
  const { maxInFlight = 1, rpm = leastRpm, tpm = 1 } = share;
  const isWorthless = maxInFlight < 1 || rpm < Math.min(leastRpm, whole.rpm ?? leastRpm) || tpm <= 0;
  return isWorthless ? undefined : share;
}

function isShortOf(due: PaceAmounts | undefined, has: PaceAmounts): boolean {
  return kinds.some((kind) => (due?.[kind] ?? 0) > (has[kind] ?? 0) * tolerance);
}

/** The lesser amount of each kind that either has. */
export function leastOf(a: PaceAmounts, b: PaceAmounts): PaceAmounts {
  return amounts((kind) => {
    const known = [a[kind], b[kind]].filter((amount) => amount !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  });
}

function most(a: PaceAmounts, b: PaceAmounts): PaceAmounts {
  return amounts((kind) => {
    const known = [a[kind], b[kind]].filter((amount) => amount !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  });
}

function amounts(amountOf: (kind: (typeof kinds)[number]) => number | undefined): PaceAmounts {
  return Object.fromEntries(
    kinds.flatMap((kind) => {
      const amount = amountOf(kind);
      return amount === undefined ? [] : [[kind, amount]];
    }),
  );
}
