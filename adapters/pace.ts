import { Fault } from '../domain/fault.ts';
import {
  afterReturn,
  afterSending,
  changeLimits,
  type Pace,
  type PaceOutcome,
  shareLimits,
  startPace,
  waitOf,
} from '../domain/pace.ts';
import type { ModelSpec } from '../domain/sweep-spec.ts';

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
};

export type Paces = {
  /**
   * Resolves when the endpoint may be called. Rejects with the signal's reason, or with `Fault` rate_limited (nothing
   * was sent) where the endpoint wants to be left alone for more than a minute: such a wait is not one for a worker.
   */
  enter(model: ModelSpec, request: PaceRequest): Promise<PacePass>;
  readings(): readonly PaceReading[];
};

export type PaceOptions = {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The part of each endpoint that this process may use, above 0 to 1; default 1. */
  readonly share?: number;
  /** Told how long each call waited, 0 included. */
  readonly onWait?: (wait: { readonly model: string; readonly ms: number }) => void;
};

const longestCooldownMs = 60_000;

type Waiting = {
  readonly order: number;
  readonly go: () => void;
  readonly giveUp: (reason: unknown) => void;
};

/** A pace for each endpoint (base URL, name of the key, model), shared by all who call it in this process. */
export function createPaces({ now, share = 1, onWait }: PaceOptions): Paces {
  const queues = new Map<string, Queue>();

  function queueOf(model: ModelSpec): Queue {
    const key = JSON.stringify([model.baseUrl, model.apiKey, model.model]);
    const known = queues.get(key);
    if (known !== undefined) {
      known.describe(model);
      return known;
    }
    const queue = createQueue(model, share, now);
    queues.set(key, queue);
    return queue;
  }

  return {
    async enter(model, request) {
      const since = now();
      const pass = await queueOf(model).enter(request);
      onWait?.({ model: model.name, ms: Math.max(0, now() - since) });
      return pass;
    },
    readings: () => [...queues.values()].map((queue) => queue.reading()),
  };
}

type Queue = {
  /** The entry of `models` that calls now: its limits hold from here on. */
  describe(model: ModelSpec): void;
  enter(request: PaceRequest): Promise<PacePass>;
  reading(): PaceReading;
};

function createQueue(firstModel: ModelSpec, share: number, now: () => number): Queue {
  let model = firstModel;
  let pace: Pace = startPace(shareLimits(model, share), now());
  let timer: NodeJS.Timeout | undefined;
  // The last goes first, so that leaving is cheap.
  const waiting: Waiting[] = [];

  function send(tokens: number): PacePass {
    const sent = { number: pace.next, tokens };
    pace = afterSending(pace, tokens, now());
    return {
      leave(outcome) {
        pace = afterReturn(pace, sent, outcome, waiting.length, now());
        advance();
      },
    };
  }

  function advance(): void {
    let wait = waitOf(pace, now());
    while (waiting.length > 0 && wait === 0) {
      waiting.pop()?.go();
      wait = waitOf(pace, now());
    }
    if (waiting.length > 0) postpone(wait);
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

  function wait({ order, tokens, signal }: PaceRequest): Promise<PacePass> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        waiting.splice(waiting.indexOf(one), 1);
        if (waiting.length === 0) clearTimeout(timer);
        reject(signal.reason);
      };
      const one: Waiting = {
        order,
        go() {
          signal.removeEventListener('abort', abort);
          resolve(send(tokensOf(tokens)));
        },
        giveUp(reason) {
          signal.removeEventListener('abort', abort);
          reject(reason);
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      waiting.splice(placeOf(waiting, order), 0, one);
      advance();
    });
  }

  const tokensOf = (tokens: () => number): number => (model.tpm === undefined ? 0 : tokens());

  return {
    describe(next) {
      const isOther =
        next.rpm !== model.rpm || next.tpm !== model.tpm || next.maxInFlight !== model.maxInFlight;
      model = next;
      if (isOther) pace = changeLimits(pace, shareLimits(model, share), now());
    },
    async enter(request) {
      request.signal.throwIfAborted();
      const fault = tooLong();
      if (fault !== undefined) throw fault;
      if (waiting.length === 0 && waitOf(pace, now()) === 0) return send(tokensOf(request.tokens));
      return wait(request);
    },
    reading: () => ({
      model: model.name,
      inFlight: pace.inFlight,
      waiting: waiting.length,
      limit: Math.floor(pace.limit),
    }),
  };
}

/** Where one of this order belongs in a list whose last goes first: before all that are not younger. */
function placeOf(waiting: readonly Waiting[], order: number): number {
  let low = 0;
  let high = waiting.length;
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
