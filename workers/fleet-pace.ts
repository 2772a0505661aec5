import type { Clock } from '../activities/ports.ts';
import type { Endpoint, Leases, LeaseTaker } from '../adapters/pace.ts';
import type { PaceAsk, PaceLease } from '../domain/pace-lease.ts';
import type { LeaseNote } from './metrics.ts';

/** Asks whoever shares out the pace of an endpoint. Rejects where no answer came; it may have been heard all the same. */
export type AskForLease = (endpoint: Endpoint, ask: PaceAsk, mayFollow: boolean) => Promise<PaceLease>;

export type FleetPaceOptions = {
  readonly ask: AskForLease;
  /** This process among those that ask. */
  readonly holder: string;
  /** The clock of the paces: milliseconds, never set. */
  readonly now: () => number;
  readonly sleep: Clock['sleep'];
  readonly onLease?: (note: LeaseNote) => void;
  /** Told when asks begin to fail: calls wait once the lease has ended. */
  readonly onSilence: (endpoint: Endpoint, reason: string) => void;
};

export type FleetPace = Leases & {
  /** Gives all leases back. To be called when no call is in flight any more. */
  close(): Promise<void>;
};

type Answered = {
  readonly number: number;
  readonly until: number;
  readonly lifeMs: number;
  readonly isShare: boolean;
};

const pauseAfterFailureMs = 1_000;

/** Keeps a lease for each endpoint that is called, for as long as it is called. */
export function createFleetPace(options: FleetPaceOptions): FleetPace {
  const keepers: { readonly kept: Promise<void>; wake(): void }[] = [];
  const closing = new AbortController();
  return {
    take(endpoint, taker) {
      const keeper = keepLease(endpoint, taker, options, closing.signal);
      keepers.push(keeper);
      return keeper.wake;
    },
    async close() {
      closing.abort();
      for (const { wake } of keepers) wake();
      await Promise.all(keepers.map(({ kept }) => kept));
    },
  };
}

/** Asks while calls come, gives back when there were none, and sleeps until `wake`. */
function keepLease(endpoint: Endpoint, taker: LeaseTaker, options: FleetPaceOptions, closing: AbortSignal) {
  const { ask, holder, now, sleep } = options;
  const note = (result: LeaseNote['result'], ms?: number) =>
    options.onLease?.({ model: endpoint.model, result, ...(ms === undefined ? {} : { ms }) });
  let number = 0;
  /** The last lease that came, a share or none. */
  let last: Answered | undefined;
  let isWanted = false;
  let isSilent = false;
  let wake = () => {};

  /** Returns after how long to ask again: never, once the lease was given back. */
  async function askOnce(): Promise<number> {
    isWanted = false;
    // A lease counts from when it was asked for: whoever grants it reads the clock later.
    const sentAt = now();
    const demand = closing.aborted ? undefined : taker.takeDemand();
    const keeps = last !== undefined && sentAt < last.until ? { keeps: last.number } : {};
    // Who knows of leases that were granted lately says so to a successor who does not.
    const mayFollow = last !== undefined && sentAt < last.until + last.lifeMs;
    number += 1;
    const question = { holder, number, ...keeps, whole: taker.whole() };
    if (last?.isShare && sentAt >= last.until) {
      note('expired');
      last = { ...last, isShare: false };
    }
    if (demand === undefined) {
      const hadLease = last !== undefined;
      last = undefined;
      taker.holds(undefined);
      if (hadLease) await ask(endpoint, question, mayFollow);
      return Number.POSITIVE_INFINITY;
    }
    const { share, lifeMs, renewInMs } = await ask(endpoint, { ...question, demand }, mayFollow);
    last = { number: question.number, until: sentAt + lifeMs, lifeMs, isShare: share !== undefined };
    taker.holds(share && { share, until: last.until });
    note(share === undefined ? 'denied' : 'granted', now() - sentAt);
    return renewInMs;
  }

  /** Until nothing is wanted any more. What could not be given back ends by itself. */
  async function renew(): Promise<void> {
    for (let pauseMs = 0; Number.isFinite(pauseMs); ) {
      await sleep(pauseMs, closing).catch(() => {});
      const isLast = closing.aborted;
      try {
        pauseMs = await askOnce();
        isSilent = false;
      } catch (error) {
        note('failed');
        if (!isSilent) options.onSilence(endpoint, error instanceof Error ? error.message : String(error));
        isSilent = true;
        pauseMs = isLast ? Number.POSITIVE_INFINITY : pauseAfterFailureMs;
      }
    }
  }

  async function keep(): Promise<void> {
    while (!closing.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (!isWanted) await woken;
      await renew();
    }
  }

  return {
    kept: keep(),
    wake() {
      isWanted = true;
      wake();
    },
  };
}
