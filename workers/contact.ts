import type { Clock, Contact } from '../activities/ports.ts';
import { systemClock } from '../adapters/clock.ts';

/** Silence after which a worker may have been taken for lost: its heartbeats, too, did not arrive. */
const silenceMs = 15_000;
const pingEveryMs = 5_000;
/** Once contact is back, an attempt that was given to another worker hears of it within one heartbeat. */
const settleMs = 6_000;
const lookEveryMs = 500;
/** A ping that takes longer went into a hole; the next one may not. */
const longestPingMs = 8_000;

/** Contact with Temporal, watched by a cheap ping; `close` ends the watch. */
export type WatchedContact = Contact & { readonly reachable: () => boolean; close(): void };

/**
 * Watches the contact with Temporal. While it is lost (a partition, or a process that was frozen), `hold` keeps every
 * call back until contact has been back for a heartbeat; it rejects when the attempt is called back meanwhile.
 * `ping` rejects when no answer came; `now` is the time of the wall, in epoch milliseconds.
 */
export function watchContact(
  ping: () => Promise<void>,
  now: () => number,
  sleep: Clock['sleep'] = systemClock.sleep,
): WatchedContact {
  // A server that answered was there after it was asked: the answer itself may have waited for a frozen process.
  let heardAt = now();
  let backAt = Number.NEGATIVE_INFINITY;
  const closed = new AbortController();
  // Read off the clock, not off a timer: after a freeze the first to run may be a conversation. A clock that is set
  // back says nothing either, so any jump counts.
  const since = (at: number) => Math.abs(now() - at);
  const isSilent = () => since(heardAt) > silenceMs;
  const mayCall = () => !isSilent() && since(backAt) >= settleMs;

  async function listen(): Promise<void> {
    const askedAt = now();
    const tooLong = sleep(longestPingMs, closed.signal).then(() => Promise.reject(new Error('no answer')));
    await Promise.race([ping(), tooLong]);
    if (isSilent()) backAt = now();
    heardAt = askedAt;
  }

  async function watch(): Promise<void> {
    while (!closed.signal.aborted) {
      // Silence speaks for itself.
      await listen().catch(() => {});
      await sleep(pingEveryMs, closed.signal).catch(() => {});
    }
  }
  void watch();

  return {
    reachable: () => !isSilent(),
    mayCall,
    async hold(signal) {
      while (!mayCall()) await sleep(lookEveryMs, signal);
    },
    close: () => closed.abort(),
  };
}
