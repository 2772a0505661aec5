import type { Clock } from '../activities/ports.ts';
import type { Leases, LeaseTaker } from '../adapters/pace.ts';
import type { PaceAsk, PaceLease } from '../domain/pace-lease.ts';

/** Asks whoever shares out the pace of an endpoint. Rejects where no answer came; it may have been heard all the same. */
export type AskForLease = (endpoint: Endpoint, ask: PaceAsk, mayFollow: boolean) => Promise<PaceLease>;

export type Endpoint = { readonly key: string; readonly name: string };

export type FleetPaceOptions = {
  readonly ask: AskForLease;
  /** This process among those that ask. */
  readonly holder: string;
  /** The clock of the paces: milliseconds, never set. */
  readonly now: () => number;
  readonly sleep: Clock['sleep'];
  /** Told of each ask: whether it was answered, and whether the answer was a share. */
  readonly onAsk?: (result: 'share' | 'none' | 'failed') => void;
};

export type FleetPace = Leases & {
  /** Gives all leases back. To be called when no call is in flight any more. */
  close(): Promise<void>;
};

const pauseAfterFailureMs = 1_000;

/** Keeps a lease for each endpoint that is called, for as long as it is called. */
export function createFleetPace(options: FleetPaceOptions): FleetPace {
  const keepers: { readonly kept: Promise<void>; wake(): void }[] = [];
  const closing = new AbortController();
  return {
    take(key, name, taker) {
      const keeper = keepLease({ key, name }, taker, options, closing.signal);
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
  const { ask, holder, now, sleep, onAsk } = options;
  let number = 0;
  /** The last lease that came, a share or none. */
  let last: { readonly number: number; readonly until: number; readonly lifeMs: number } | undefined;
  let isWanted = false;
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
    if (demand === undefined) {
      const hadLease = last !== undefined;
      last = undefined;
      taker.holds(undefined);
      if (hadLease) await ask(endpoint, question, mayFollow);
      return Number.POSITIVE_INFINITY;
    }
    const { share, lifeMs, renewInMs } = await ask(endpoint, { ...question, demand }, mayFollow);
    last = { number: question.number, until: sentAt + lifeMs, lifeMs };
    taker.holds(share && { share, until: last.until });
    onAsk?.(share === undefined ? 'none' : 'share');
    return renewInMs;
  }

  /** Until nothing is wanted any more. What could not be given back ends by itself. */
  async function renew(): Promise<void> {
    for (let pauseMs = 0; Number.isFinite(pauseMs); ) {
      await sleep(pauseMs, closing).catch(() => {});
      const isLast = closing.aborted;
      pauseMs = await askOnce().catch(() => {
        onAsk?.('failed');
        return isLast ? Number.POSITIVE_INFINITY : pauseAfterFailureMs;
      });
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
