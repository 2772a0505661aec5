import { Fault } from '../domain/fault.ts';
import {
  afterReturn,
  afterSending,
  changeLimits,
  expectTokens,
  isShort,
  leaseLimits,
  limitOf,
  type Pace,
  type PaceLimits,
  type PaceOutcome,
  shareLimits,
  startPace,
  waitOf,
} from '../domain/pace.ts';
import { type PaceAmounts, type PaceDemand, wholeOf } from '../domain/pace-lease.ts';
import type { ModelSpec } from '../domain/sweep-spec.ts';
import { createDeclaredPace } from './declared-pace.ts';
import { createDemandCount } from './pace-demand.ts';

/** Leave to call an endpoint. `leave` is to be called exactly once, when the call has come back. */
export type PacePass = { leave(outcome: PaceOutcome): void };

export type PaceRequest = {
  /** Smaller goes first; equal ones in the order of their coming. */
  readonly order: number;
  /** How many tokens the call will take; asked only where the endpoint has a `tpm`. */
  readonly tokens: () => number;
  readonly signal: AbortSignal;
};

/** What an endpoint is doing right now. */
export type PaceReading = {
  /** The key in `models` that called last. */
  readonly model: string;
  readonly inFlight: number;
  readonly waiting: number;
  /** Calls that may be in flight. */
  readonly limit: number;
  /** Whether this process holds a share of the endpoint; false where nobody shares it out. */
  readonly isLeased: boolean;
};

export type Paces = {
  /**
   * Resolves when the endpoint may be called. Rejects with the signal's reason, or with `Fault` rate_limited (nothing
   * was sent) where the endpoint wants to be left alone for more than a minute: such a wait is not one for a worker.
   */
  enter(model: ModelSpec, request: PaceRequest): Promise<PacePass>;
  readings(): readonly PaceReading[];
};

export type Endpoint = {
  /** Tells endpoints apart. */
  readonly key: string;
  /** The key in `models` that called first. */
  readonly model: string;
  /** For people. */
  readonly name: string;
};

/** A share of an endpoint, to be used until then on the clock of the paces. */
export type HeldLease = { readonly share: PaceAmounts; readonly until: number };

/** What whoever grants leases asks and tells a process that calls an endpoint. */
export type LeaseTaker = {
  /** What the endpoint grants to all processes together. */
  whole(): PaceAmounts;
  /** What was wanted since it was asked last; undefined: nothing. */
  takeDemand(): PaceDemand | undefined;
  /** Holds from here on; undefined: no calls until there is another. */
  holds(lease: HeldLease | undefined): void;
};

/** Where the processes of a fleet get their shares of an endpoint. */
export type Leases = {
  /** The answer is to be called when a call has to wait. */
  take(endpoint: Endpoint, taker: LeaseTaker): () => void;
};

export type PaceOptions = {
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  /** The part of each endpoint that this process may use, above 0 to 1; default 1. */
  readonly share?: number;
  /** Who shares out what endpoints declare among all processes; absent: nobody, and `share` holds. */
  readonly leases?: Leases;
  /** Whether this process may call anybody right now; whoever waits has no turn until it may. Default: it always may. */
  readonly mayCall?: () => boolean;
  /** Told how long each call waited, 0 included. */
  readonly onWait?: (wait: { readonly model: string; readonly ms: number }) => void;
};

const longestCooldownMs = 60_000;
/** How often a process that may not call looks whether it may again. */
const lookEveryMs = 500;

type Waiting = {
  readonly order: number;
  readonly go: () => void;
  readonly giveUp: (reason: unknown) => void;
};

/** A pace for each endpoint (base URL, name of the key, model), shared by all who call it in this process. */
export function createPaces(options: PaceOptions): Paces {
  const { now, onWait } = options;
  const queues = new Map<string, Queue>();

  function queueOf(model: ModelSpec): Queue {
    const key = JSON.stringify([model.baseUrl, model.apiKey, model.model]);
    const known = queues.get(key);
    if (known !== undefined) return known;
    const queue = createQueue(key, model, options);
    queues.set(key, queue);
    return queue;
  }

  return {
    async enter(model, request) {
      const since = now();
      const pass = await queueOf(model).enter(model, request);
      onWait?.({ model: model.name, ms: Math.max(0, now() - since) });
      return pass;
    },
    readings: () => [...queues.values()].map((queue) => queue.reading()),
  };
}

type Queue = {
  /** `model` is the entry of `models` that calls. */
  enter(model: ModelSpec, request: PaceRequest): Promise<PacePass>;
  reading(): PaceReading;
};

/** The line of those who wait for one endpoint. */
function createQueue(key: string, firstModel: ModelSpec, options: PaceOptions): Queue {
  const { now, share = 1, leases, mayCall = () => true } = options;
  const declare = createDeclaredPace(now);
  let model = firstModel;
  let whole = declare(model);
  let lease: HeldLease | undefined;
  let askForLease: (() => void) | undefined;
  let pace: Pace = startPace(limitsNow(), now());
  let timer: NodeJS.Timeout | undefined;
  const demand = createDemandCount(now);
  // The last goes first, so that leaving is cheap.
  const waiting: Waiting[] = [];

  function limitsNow(): PaceLimits {
    return leases === undefined || wholeOf(whole) === undefined
      ? shareLimits(whole, share)
      : leaseLimits(whole, lease);
  }

  /** Endpoints that declare nothing are nobody else's business. */
  function takeLease(): void {
    if (leases === undefined || askForLease !== undefined || wholeOf(whole) === undefined) return;
    askForLease = leases.take(
      { key, model: model.name, name: nameEndpoint(model) },
      {
        whole: () => wholeOf(whole) ?? {},
        takeDemand: demand.take,
        holds(next) {
          lease = next;
          pace = changeLimits(pace, limitsNow(), now());
          advance();
        },
      },
    );
  }

  function count(): void {
    demand.stands({
      inFlight: pace.inFlight,
      waiting: waiting.length,
      isShort: waiting.length > 0 && isShort(pace, now()),
    });
  }

  /** Limits that are new hold from here on. */
  function describe(caller: ModelSpec): void {
    const { maxInFlight, rpm, tpm } = whole;
    whole = declare(caller);
    if (whole.rpm === rpm && whole.tpm === tpm && whole.maxInFlight === maxInFlight) return;
    pace = changeLimits(pace, limitsNow(), now());
  }

  function send(caller: ModelSpec, expected: () => number): PacePass {
    describe(caller);
    const estimate = whole.tpm === undefined ? 0 : expected();
    const tokens = expectTokens(pace, estimate);
    const sent = { number: pace.next, tokens, estimate };
    pace = afterSending(pace, tokens, now());
    demand.sent(tokens);
    count();
    return {
      leave(outcome) {
        pace = afterReturn(pace, sent, outcome, waiting.length, now());
        advance();
      },
    };
  }

  function waitNow(): number | undefined {
    return mayCall() ? waitOf(pace, now()) : lookEveryMs;
  }

  function advance(): void {
    while (waiting.length > 0 && waitNow() === 0) waiting.pop()?.go();
    count();
    if (waiting.length > 0) postpone(waitNow());
  }

  function postpone(wait: number | undefined): void {
    if (wait === undefined) return;
    const fault = tooLong();
    if (fault !== undefined) {
      for (const one of waiting.splice(0)) one.giveUp(fault);
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(advance, wait);
  }

  function tooLong(): Fault | undefined {
    const coolMs = pace.coolUntil - now();
    if (coolMs <= longestCooldownMs) return undefined;
    const seconds = Math.ceil(coolMs / 1000);
    return new Fault('rate_limited', `${model.name} (${model.model}) asked for no calls for ${seconds} s`, {
      blame: 'infrastructure',
      endpoint: nameEndpoint(model),
      retryAfterMs: coolMs,
    });
  }

  function wait(caller: ModelSpec, { order, tokens, signal }: PaceRequest): Promise<PacePass> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        waiting.splice(waiting.indexOf(one), 1);
        if (waiting.length === 0) clearTimeout(timer);
        count();
        reject(signal.reason);
      };
      const one: Waiting = {
        order,
        go() {
          signal.removeEventListener('abort', abort);
          resolve(send(caller, tokens));
        },
        giveUp(reason) {
          signal.removeEventListener('abort', abort);
          reject(reason);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      waiting.splice(placeOf(waiting, order), 0, one);
      advance();
      askForLease?.();
    });
  }

  return {
    async enter(caller, request) {
      request.signal.throwIfAborted();
      model = caller;
      describe(caller);
      const fault = tooLong();
      if (fault !== undefined) throw fault;
      takeLease();
      demand.entered(request.order);
      if (waiting.length === 0 && waitNow() === 0) return send(caller, request.tokens);
      return wait(caller, request);
    },
    reading: () => ({
      model: model.name,
      inFlight: pace.inFlight,
      waiting: waiting.length,
      limit: limitOf(pace, now()),
      isLeased: lease !== undefined && now() < lease.until,
    }),
  };
}

/** Where one of this order belongs in a list whose last goes first: before all that are not younger. */
function placeOf(waiting: readonly Waiting[], order: number): number {
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((waiting[middle]?.order ?? 0) > order) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `<model name> at <base url>`, without user, password and query. */
export function nameEndpoint(model: Pick<ModelSpec, 'name' | 'baseUrl'>): string {
  const url = model.baseUrl.replace(/[?#].*$/, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');
  return `${model.name} at ${url}`;
}
