import { uniform } from '../../domain/random.ts';

/** One disturbance that is to come; `atMs` counts from the storm's beginning, `forMs` is how long it lasts. */
export type Gust = {
  readonly kind: 'kill' | 'drain' | 'freeze' | 'server' | 'disk';
  readonly atMs: number;
  readonly forMs: number;
  /** From 0 up to 1: which of the workers that are there. */
  readonly whom: number;
};

type Kind = { readonly kind: Gust['kind']; readonly forMs: readonly [number, number] };

/**
 * Each round of a storm, in an order of its own. Freezes end before a lease does, before a call's limit, and after
 * Temporal has given the worker up; so do the server's absences.
 */
const round: readonly Kind[] = [
  { kind: 'kill', forMs: [0, 0] },
  { kind: 'freeze', forMs: [22_000, 30_000] },
  { kind: 'drain', forMs: [0, 0] },
  { kind: 'server', forMs: [500, 6_000] },
  { kind: 'disk', forMs: [2_000, 9_000] },
  { kind: 'kill', forMs: [0, 0] },
  { kind: 'freeze', forMs: [2_000, 18_000] },
  { kind: 'server', forMs: [6_000, 24_000] },
  { kind: 'drain', forMs: [0, 0] },
];

/** How far apart disturbances begin, on average. */
const everyMs = 6_000;

/** A storm of so many milliseconds: the same for the same seed, each kind in it from a minute on. */
export function planStorm(seed: number, lengthMs: number): readonly Gust[] {
  const count = Math.max(1, Math.floor(lengthMs / everyMs) - 1);
  return Array.from({ length: count }, (_, index): Gust => {
    const { kind, forMs } = kindAt(seed, index);
    const [least, most] = forMs;
    return {
      kind,
      atMs: Math.round((index + 0.5 + uniform(seed, 'storm:at', index) / 2) * everyMs),
      forMs: Math.round(least + uniform(seed, 'storm:for', index) * (most - least)),
      whom: uniform(seed, 'storm:whom', index),
    };
  });
}

function kindAt(seed: number, index: number): Kind {
  const purpose = `storm:kind:${Math.floor(index / round.length)}`;
  const shuffled = round
    .map((kind, place) => ({ kind, key: uniform(seed, purpose, place) }))
    .toSorted((a, b) => a.key - b.key);
  const drawn = shuffled[index % round.length];
  if (drawn === undefined) throw new Error('a round has no kinds');
  return drawn.kind;
}
