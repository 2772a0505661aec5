import { overflowValue } from './metric-catalogue.ts';

/** Keeps a label to a number of values, so that no sweep file can make a worker's page grow without end. */
export type LabelValues = {
  /** The value itself, or `other` where there are too many. */
  admit(value: string): string;
};

export type LabelValuesOptions = {
  readonly limit: number;
  /** Called each time that `other` is given. */
  readonly onOverflow: () => void;
};

/** The first `limit` values, for good. */
export function firstValues({ limit, onOverflow }: LabelValuesOptions): LabelValues {
  const known = new Set<string>();
  return {
    admit(value) {
      if (known.has(value)) return value;
      if (known.size < limit) {
        known.add(value);
        return value;
      }
      onOverflow();
      return overflowValue;
    },
  };
}

export type LiveValuesOptions = LabelValuesOptions & {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A value that was not asked for this long is no longer live. */
  readonly idleMs: number;
  /** Called with each value that is no longer live. */
  readonly onLeave: (value: string) => void;
};

/** At most `limit` values at once; those that were not asked for lately make room. */
export function liveValues(options: LiveValuesOptions): LabelValues & { prune(): void } {
  const { limit, now, idleMs, onLeave, onOverflow } = options;
  // In the order of their last use.
  const usedAt = new Map<string, number>();

  function prune(): void {
    for (const [value, at] of usedAt) {
      if (now() - at < idleMs) return;
      usedAt.delete(value);
      onLeave(value);
    }
  }

  return {
    prune,
    admit(value) {
      prune();
      if (!usedAt.has(value) && usedAt.size >= limit) {
        onOverflow();
        return overflowValue;
      }
      usedAt.delete(value);
      usedAt.set(value, now());
      return value;
    },
  };
}
