import type { Disturbance } from './disturbances.ts';
import type { SeenCall } from './seen-call.ts';

/** The most calls in any minute, whenever it begins. */
export function busiestMinute(calls: readonly SeenCall[]): number {
  const times = calls.map(({ at }) => at).toSorted((a, b) => a - b);
  let [first, most] = [0, 0];
  for (const [last, at] of times.entries()) {
    while (at - (times[first] ?? at) >= 60_000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** A lease lives for 10 s and is renewed every 5 s. */
const shortestLeaseMs = 5_000;

/**
 * The most calls in flight at a time. A call that its worker holds while it is frozen, or cut off from Temporal, counts
 * until its lease may have ended: the others cannot know of it from then on.
 */
export function mostInFlight(calls: readonly SeenCall[], disturbances: readonly Disturbance[]): number {
  const changes = calls.flatMap((call) => {
    const until = Math.min(
      call.until ?? Number.POSITIVE_INFINITY,
      ...disturbances.map((by) => lostAt(call, by)),
    );
    return [
      { at: call.at, by: 1 },
      { at: until, by: -1 },
    ];
  });
  let [now, most] = [0, 0];
  for (const { by } of changes.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

/** When a call is no longer known to the fleet because of a disturbance. */
function lostAt({ worker, at, until }: SeenCall, by: Disturbance): number {
  const isHit = by.kind === 'server' || (by.kind === 'freeze' && by.worker === worker);
  const lost = by.from + shortestLeaseMs;
  const isLost = isHit && at <= by.to && (until ?? lost) >= lost && by.to >= lost;
  return isLost ? Math.max(at, lost) : Number.POSITIVE_INFINITY;
}
