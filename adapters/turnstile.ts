/** Lets a limited number of callers through at a time, those of the oldest runs first. */
export type Turnstile = {
  /**
   * Resolves with a function that leaves again (calling it twice is the same as once); rejects with the signal's
   * reason. `order` is the epoch milliseconds at which the run opened.
   */
  enter(order: number, signal: AbortSignal): Promise<() => void>;
};

type Waiting = { readonly order: number; readonly admit: () => void };

/**
 * A turnstile for `limit` callers; no limit: everybody passes. Whoever has waited there is held back before it passes,
 * as it was before it came: much may have happened meanwhile.
 */
export function createTurnstile(
  limit = Number.POSITIVE_INFINITY,
  hold: (signal: AbortSignal) => Promise<void> = async () => {},
): Turnstile {
  const queue: Waiting[] = [];
  let inside = 0;

  const admitNext = () => {
    while (inside < limit) {
      const next = queue.shift();
      if (next === undefined) return;
      inside += 1;
      next.admit();
    }
  };
  const leaveOnce = () => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside -= 1;
      admitNext();
    };
  };

  const waitForTurn = (order: number, signal: AbortSignal): Promise<() => void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const giveUp = () => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        order,
        admit: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(leaveOnce());
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      const younger = queue.findIndex((other) => other.order > order);
      queue.splice(younger === -1 ? queue.length : younger, 0, waiting);
      admitNext();
    });

  return {
    async enter(order, signal) {
      const leave = await waitForTurn(order, signal);
      try {
        await hold(signal);
        return leave;
      } catch (reason) {
        leave();
        throw reason;
      }
    },
  };
}
