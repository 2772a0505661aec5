import type { PaceDemand } from '../domain/pace-lease.ts';

/** What a process wants of an endpoint, counted since it was taken last. */
export type DemandCount = {
  entered(order: number): void;
  sent(tokens: number): void;
  /** How many calls are in flight and wait from now on, and whether only the process's share holds them back. */
  stands(calls: { readonly inFlight: number; readonly waiting: number; readonly isShort: boolean }): void;
  /** Undefined where nobody called since the last time and nobody waits; counts anew from here on. */
  take(): PaceDemand | undefined;
};

/** A shorter time says little about a minute. */
const leastElapsedMs = 1_000;
/** Long calls come in waves; their rate is that of about so long. */
const smoothingMs = 15_000;
/** Calls that find no leave for a moment are no sign of a share that is too small. */
const shortFor = 0.2;

/** `now` is in milliseconds. */
export function createDemandCount(now: () => number): DemandCount {
  let standing = { inFlight: 0, waiting: 0, isShort: false };
  let stoodSince = now();
  /** A long call may be older than the count. */
  let oldestKnown = Number.MAX_SAFE_INTEGER;
  let rates: { readonly rpm: number; readonly tpm: number } | undefined;
  let count = countFrom(stoodSince, 0);

  function lookAtTime(): void {
    if (standing.isShort) count.shortMs += now() - stoodSince;
    stoodSince = now();
  }

  return {
    entered(order) {
      count.oldest = Math.min(count.oldest, order);
    },
    sent(tokens) {
      count.calls += 1;
      count.tokens += tokens;
    },
    stands(calls) {
      lookAtTime();
      // The first call after a quiet time begins the count.
      if (count.most === 0) count.since = stoodSince;
      standing = calls;
      count.most = Math.max(count.most, calls.inFlight + calls.waiting);
    },
    take() {
      lookAtTime();
      const { since, calls, tokens, most, shortMs, oldest } = count;
      const { inFlight, waiting, isShort } = standing;
      count = countFrom(stoodSince, inFlight + waiting);
      if (most === 0) return undefined;
      if (Number.isFinite(oldest)) oldestKnown = oldest;
      const elapsedMs = stoodSince - since;
      const perMinute = 60_000 / Math.max(leastElapsedMs, elapsedMs);
      const part = 1 - Math.exp(-elapsedMs / smoothingMs);
      const mix = (before = 0, rate: number) => before + (rate - before) * (rates === undefined ? 1 : part);
      rates = { rpm: mix(rates?.rpm, calls * perMinute), tpm: mix(rates?.tpm, tokens * perMinute) };
      return {
        inFlight,
        calls: most,
        ...rates,
        isShort: (isShort || shortMs > 0) && shortMs >= shortFor * elapsedMs,
        oldest: oldestKnown,
      };
    },
  };
}

function countFrom(since: number, most: number) {
  return { since, calls: 0, tokens: 0, most, shortMs: 0, oldest: Number.POSITIVE_INFINITY };
}
