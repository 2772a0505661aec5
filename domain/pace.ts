import { type Bucket, minuteBucket, pourOver, take, waitForLevel } from './bucket.ts';
import { type PaceAmounts, wholeOf } from './pace-lease.ts';

/** How fast an endpoint may be called; the numbers are those of this process. */
export type PaceLimits = {
  /** The ceiling of calls in flight, at least 1. */
  readonly maxInFlight: number;
  /** The limit that the first calls start with. */
  readonly startInFlight: number;
  readonly rpm?: number;
  readonly tpm?: number;
  /** The limits are leased: no call is sent from this time on. */
  readonly until?: number;
};

/**
 * The pace of one endpoint. Calls are numbered in the order in which they are sent, so that "one round trip" needs
 * no clock: it is over when a call that was sent after its start has come back.
 */
export type Pace = {
  readonly limits: PaceLimits;
  /** Calls in flight that the endpoint is taken to bear; its fraction carries growth over. */
  readonly limit: number;
  /** Until the first refusal the limit doubles with each round trip. */
  readonly doubling: boolean;
  readonly inFlight: number;
  /** The number of the next call. */
  readonly next: number;
  /** Calls from this number on were sent after the last cut; how many of them were served and refused. */
  readonly since: number;
  readonly served: number;
  readonly refused: number;
  /** The share of refused calls that led to the last cut; 0: the next refusal cuts, whatever its share. */
  readonly shareBefore: number;
  /** No cut for refusals of calls before this number: the last cut did not help. */
  readonly patientUntil: number;
  /** No call is sent before this time. */
  readonly coolUntil: number;
  /** Refusals after which no call sent later was served yet: how many, and the lowest and highest number. */
  readonly run: { readonly count: number; readonly first: number; readonly last: number };
  /** Cooldowns since a call was served that was sent after a refused one; makes the next one longer. */
  readonly setbacks: number;
  readonly requests: Bucket | undefined;
  readonly tokens: Bucket | undefined;
  /** What answered calls came to, as a part of what was estimated. */
  readonly tokensPerEstimate: number;
};

/** How a call came back: `refused` is a 429 or 503; `failed` says nothing about the pace. */
export type PaceOutcome =
  | { readonly kind: 'served'; readonly tokens: number }
  | { readonly kind: 'refused'; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'failed' };

/** What was noted when a call was sent: its number, the tokens that were taken for it, and what they were made of. */
export type SentCall = { readonly number: number; readonly tokens: number; readonly estimate?: number };

const startInFlight = 32;
/** A few calls in flight tell when an endpoint has room again; a smaller endpoint is described by `max_in_flight`. */
const leastInFlight = 8;
const growth = 0.05;
const cut = 0.7;
/** How long a cut that did not help keeps the next one off, in round trips: as long as growth takes to undo it. */
const patience = 10;
/** So many refusals in a row mean that the endpoint refuses everything. */
const refusalsInRow = 3;
/** How much one answer weighs against those before it. */
const learning = 0.05;
const noRun = { count: 0, first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
const longestBackOffMs = 30_000;

/**
 * The limits of one process that may use `share` (0 to 1) of what an endpoint grants; in flight at least 1.
 * Starts with 32 calls in flight, or the ceiling where that is lower.
 */
export function shareLimits(
  model: { readonly maxInFlight: number; readonly rpm?: number; readonly tpm?: number },
  share: number,
): PaceLimits {
  const maxInFlight = Math.max(1, Math.floor(model.maxInFlight * share));
  return {
    maxInFlight,
    startInFlight: Math.min(maxInFlight, Math.max(1, Math.floor(startInFlight * share))),
    ...(model.rpm === undefined ? {} : { rpm: model.rpm * share }),
    ...(model.tpm === undefined ? {} : { tpm: model.tpm * share }),
  };
}

/**
 * The limits of a process under a lease, never above what the endpoint declares; without one, or for a kind that it
 * does not speak of yet, it calls nothing.
 */
export function leaseLimits(
  model: { readonly maxInFlight: number; readonly rpm?: number; readonly tpm?: number },
  lease: { readonly share: PaceAmounts; readonly until: number } | undefined,
): PaceLimits {
  const { share = {}, until = 0 } = lease ?? {};
  const declared = wholeOf(model) ?? {};
  const speaksOfAll = Object.keys(declared).every((kind) => kind in share);
  const inFlight = declared.maxInFlight === undefined ? model.maxInFlight : (share.maxInFlight ?? 0);
  return {
    maxInFlight: lease === undefined || !speaksOfAll ? 0 : Math.min(model.maxInFlight, inFlight),
    startInFlight: Math.min(model.maxInFlight, startInFlight),
    ...(model.rpm === undefined ? {} : { rpm: Math.min(model.rpm, share.rpm ?? 0) }),
    ...(model.tpm === undefined ? {} : { tpm: Math.min(model.tpm, share.tpm ?? 0) }),
    until,
  };
}

/** The pace of an endpoint that was not called yet. */
export function startPace(limits: PaceLimits, now: number): Pace {
  return {
    limits,
    limit: limits.startInFlight,
    doubling: true,
    inFlight: 0,
    next: 0,
    since: 0,
    served: 0,
    refused: 0,
    shareBefore: 0,
    patientUntil: 0,
    coolUntil: 0,
    run: noRun,
    setbacks: 0,
    requests: minuteBucket(limits.rpm, 1, now),
    tokens: minuteBucket(limits.tpm, 0, now),
    tokensPerEstimate: 1,
  };
}

/** The same pace under other limits: what was learned is kept, the buckets keep what is in them and what they owe. */
export function changeLimits(pace: Pace, limits: PaceLimits, now: number): Pace {
  const { requests, tokens } = startPace(limits, now);
  return {
    ...pace,
    limits,
    requests: pourOver(pace.requests, requests, now),
    tokens: pourOver(pace.tokens, tokens, now),
  };
}

/** How many calls may be in flight. */
export function limitOf({ limit, limits }: Pace, now: number): number {
  return isOver(limits, now) ? 0 : Math.min(Math.floor(limit), limits.maxInFlight);
}

/** Whether the next call waits for nothing but the limits that this process was given. */
export function isShort(pace: Pace, now: number): boolean {
  const { limit, limits, inFlight, coolUntil } = pace;
  if (now < coolUntil || waitOf(pace, now) === 0) return false;
  return isOver(limits, now) || inFlight >= limits.maxInFlight || inFlight < Math.floor(limit);
}

function isOver({ until }: PaceLimits, now: number): boolean {
  return until !== undefined && now >= until;
}

/**
 * How long the next call has to wait, in milliseconds: 0 is not at all, undefined is until a call comes back.
 * The cooldown comes first, so that a caller can see how long an endpoint wants to be left alone.
 */
export function waitOf(pace: Pace, now: number): number | undefined {
  if (now < pace.coolUntil) return pace.coolUntil - now;
  if (pace.inFlight >= limitOf(pace, now)) return undefined;
  return Math.max(waitForLevel(pace.requests, 1, now), waitForLevel(pace.tokens, 0, now));
}

/** What to take for a call that is estimated at so many tokens: in the long run what such calls come to. */
export function expectTokens(pace: Pace, estimate: number): number {
  return Math.ceil(estimate * pace.tokensPerEstimate);
}

/** The pace after a call was sent; its number is that of `pace.next` before. `tokens` are expected. */
export function afterSending(pace: Pace, tokens: number, now: number): Pace {
  return {
    ...pace,
    inFlight: pace.inFlight + 1,
    next: pace.next + 1,
    requests: pace.requests && take(pace.requests, 1, now),
    tokens: pace.tokens && take(pace.tokens, tokens, now),
  };
}

/** The pace after a call came back while `waiting` others wait to be sent. */
export function afterReturn(
  pace: Pace,
  sent: SentCall,
  outcome: PaceOutcome,
  waiting: number,
  now: number,
): Pace {
  const left = { ...pace, inFlight: pace.inFlight - 1 };
  switch (outcome.kind) {
    case 'failed':
      return left;
    case 'served':
      return afterServing(left, sent, outcome.tokens, pace.inFlight + waiting >= limitOf(pace, now), now);
    case 'refused':
      return afterRefusal(left, sent, outcome.retryAfterMs, now);
  }
}

/** Each served call of a full round trip adds its part: together they double the limit, or add 5 %. */
function afterServing(pace: Pace, sent: SentCall, tokens: number, saturated: boolean, now: number): Pace {
  const step = saturated ? (pace.doubling ? 1 : growth) : 0;
  const endsRun = sent.number > pace.run.first;
  return {
    ...pace,
    limit: Math.max(pace.limit, Math.min(pace.limits.maxInFlight, pace.limit + step)),
    served: pace.served + (sent.number >= pace.since ? 1 : 0),
    coolUntil: endsRun ? 0 : pace.coolUntil,
    run: endsRun ? noRun : pace.run,
    setbacks: endsRun ? 0 : pace.setbacks,
    tokens: pace.tokens && take(pace.tokens, tokens - sent.tokens, now),
    tokensPerEstimate: sent.estimate
      ? pace.tokensPerEstimate + learning * (tokens / sent.estimate - pace.tokensPerEstimate)
      : pace.tokensPerEstimate,
  };
}

function afterRefusal(pace: Pace, sent: SentCall, retryAfterMs: number | undefined, now: number): Pace {
  const isNew = sent.number >= pace.since;
  const run = {
    count: pace.run.count + 1,
    first: Math.min(pace.run.first, sent.number),
    last: Math.max(pace.run.last, sent.number),
  };
  const noted = { ...pace, doubling: false, refused: pace.refused + (isNew ? 1 : 0), run };
  const cooled = refusesEverything(noted) ? coolDown(noted, retryAfterMs, now) : noted;
  return isNew ? cutOnce(cooled, pace.doubling, sent.number) : cooled;
}

/**
 * A single refusal holds back only its own call: where the calls sent next to it are served, a cooldown for all would
 * waste the endpoint (one that refuses every tenth call at random would stand still most of the time).
 */
function refusesEverything({ run, inFlight }: Pace): boolean {
  const isUnbroken = run.last - run.first + 1 === run.count;
  return inFlight === 0 || (isUnbroken && run.count >= refusalsInRow);
}

function coolDown(pace: Pace, retryAfterMs: number | undefined, now: number): Pace {
  const isOneMore = now >= pace.coolUntil;
  const setbacks = pace.setbacks + (isOneMore ? 1 : 0);
  const coolMs = retryAfterMs ?? Math.min(longestBackOffMs, 500 * 2 ** (setbacks - 1));
  return { ...pace, setbacks, coolUntil: Math.max(pace.coolUntil, now + coolMs) };
}

/**
 * Cuts the limit at most once a round trip. Where the share of refused calls stayed what it was although the last
 * cut lowered the limit, refusals do not come from our pace (an endpoint that refuses every tenth call at random,
 * other users of the same key): then the limit is left alone for some round trips. Above one half it is always cut.
 */
function cutOnce(pace: Pace, isFirst: boolean, number: number): Pace {
  const returned = pace.served + pace.refused;
  const limit = Math.max(1, Math.min(pace.limit, pace.limits.maxInFlight));
  if (!isFirst && returned < Math.floor(limit) / 2) return pace;
  const share = pace.refused / returned;
  const isHopeless = share > 0.5;
  if (number < pace.patientUntil && !isHopeless) return pace;
  const turned = { ...pace, since: pace.next, served: 0, refused: 0, shareBefore: share };
  const helped = share < cut * pace.shareBefore || pace.shareBefore === 0;
  if (!helped && !isHopeless) {
    return { ...turned, shareBefore: 0, patientUntil: pace.next + patience * Math.ceil(limit) };
  }
  return { ...turned, limit: Math.max(Math.min(leastInFlight, limit), limit * cut) };
}
