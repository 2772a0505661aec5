/** A bucket that fills evenly. It may be overdrawn: then it is empty until the debt is paid. */
export type Bucket = {
  readonly level: number;
  readonly at: number;
  readonly capacity: number;
  readonly perMs: number;
};

/** Below so many a minute, keeping one call back would cost too much of it. */
const slowPerMinute = 15;

/**
 * Holds one second's worth, at least `least`, and fills so that no minute ever sees more than the limit, also where
 * several buckets share it: what a bucket holds is taken off what flows in.
 */
export function minuteBucket(perMinute: number | undefined, least: number, now: number): Bucket | undefined {
  if (perMinute === undefined) return undefined;
  const capacity = perMinute === 0 ? 0 : Math.max(least, perMinute / 61);
  const perMs = perMinute < slowPerMinute ? perMinute / 61_000 : (perMinute - capacity) / 60_000;
  return { level: capacity, at: now, capacity, perMs };
}

/** A bucket that was there before is not filled by being changed. */
export function pourOver(from: Bucket | undefined, to: Bucket | undefined, now: number): Bucket | undefined {
  return from === undefined || to === undefined
    ? to
    : { ...to, level: Math.min(levelAt(from, now), to.capacity) };
}

function levelAt(bucket: Bucket, now: number): number {
  return Math.min(bucket.capacity, bucket.level + Math.max(0, now - bucket.at) * bucket.perMs);
}

/** Takes an amount out, also one that is not there; a negative one is given back, as far as there is room. */
export function take(bucket: Bucket, amount: number, now: number): Bucket {
  return { ...bucket, level: levelAt(bucket, now) - amount, at: now };
}

/** How long until so much is in it, in milliseconds; 0 where there is no bucket. */
export function waitForLevel(bucket: Bucket | undefined, needed: number, now: number): number {
  if (bucket === undefined) return 0;
  const missing = needed - levelAt(bucket, now);
  // A hair of tolerance, so that rounding does not ask for a wait of no time.
  return missing <= 1e-6 ? 0 : Math.ceil(missing / bucket.perMs);
}
