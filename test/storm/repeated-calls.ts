import type { Disturbance } from './disturbances.ts';
import type { SeenCall } from './seen-call.ts';

/** A call that was made again, though the first one had met no fault. */
export type Repeat = {
  readonly before: SeenCall;
  readonly call: SeenCall;
  readonly why: /** The conversation was begun again in a new session in between, as `on_unsure_turn: restart` says. */
    | { readonly kind: 'restart' }
    | { readonly kind: 'disturbed'; readonly by: Disturbance }
    | { readonly kind: 'unexplained' };
};

/** How many calls of one conversation each disturbance may repeat; a judge is asked about four things at a time. */
const allowed: Readonly<Record<Disturbance['kind'], number>> = {
  kill: 1,
  drain: 0,
  freeze: 2,
  server: 2,
  disk: 1,
};
const judgeCallsAtOnce = 4;

/** Temporal is not missed before: a worker holds its conversations after 15 s, and is given up after 20 s. */
const shortestOutageMs = 12_000;

/**
 * Every call that was made again, in the order of arrival, with what it is put down to. Each disturbance explains only
 * as many calls of a conversation as the promise allows, and only where it hit a worker that made one of the two calls
 * between them.
 */
export function findRepeats(
  calls: readonly SeenCall[],
  disturbances: readonly Disturbance[],
): readonly Repeat[] {
  const latest = new Map<string, SeenCall>();
  const restarts = restartsOf(calls);
  const used = new Map<string, number>();
  const repeats: Repeat[] = [];
  for (const call of calls) {
    if (call.door === 'end') continue;
    const before = latest.get(call.key);
    if (call.fault === undefined) latest.set(call.key, call);
    if (before !== undefined) repeats.push({ before, call, why: explain(before, call) });
  }
  return repeats;

  function explain(before: SeenCall, call: SeenCall): Repeat['why'] {
    const isRestarted = (restarts.get(call.conversation) ?? []).some(
      (at) => at >= before.at && at <= call.at && call.door === 'model',
    );
    if (isRestarted) return { kind: 'restart' };
    const by = disturbances.find((disturbance, index) => {
      if (!mayRepeat(disturbance, before, call)) return false;
      const key = `${index} ${call.conversation} ${call.role === 'judge'}`;
      const count = (used.get(key) ?? 0) + 1;
      if (count > allowed[disturbance.kind] * (call.role === 'judge' ? judgeCallsAtOnce : 1)) return false;
      used.set(key, count);
      return true;
    });
    return by === undefined ? { kind: 'unexplained' } : { kind: 'disturbed', by };
  }
}

function mayRepeat({ kind, worker, from, to }: Disturbance, before: SeenCall, call: SeenCall): boolean {
  const isBetween = from <= call.at && to >= before.at;
  if (!isBetween) return false;
  switch (kind) {
    case 'drain':
      return false;
    case 'kill':
      return worker === before.worker;
    case 'freeze':
      return worker === before.worker || worker === call.worker;
    case 'server':
      return to - from >= shortestOutageMs;
    case 'disk':
      return true;
  }
}

/** When conversations were begun again in a new session, by conversation. A start is a call, too: it may be repeated. */
export function restartsOf(calls: readonly SeenCall[]): ReadonlyMap<string, readonly number[]> {
  const starts = new Map<string, SeenCall[]>();
  const known = new Set<string>();
  for (const call of calls) {
    if (call.door !== 'start' || known.has(call.key)) continue;
    known.add(call.key);
    starts.set(call.conversation, [...(starts.get(call.conversation) ?? []), call]);
  }
  return new Map(
    [...starts].map(([conversation, [, ...again]]) => [conversation, again.map(({ at }) => at)]),
  );
}

/** Restarts that no disturbance explains: nothing had happened to who had made the conversation's last call. */
export function unexplainedRestarts(
  calls: readonly SeenCall[],
  disturbances: readonly Disturbance[],
): readonly SeenCall[] {
  const ofDesk = Map.groupBy(
    calls.filter(({ door }) => door === 'start' || door === 'chat'),
    ({ conversation }) => conversation,
  );
  return [...restartsOf(calls)].flatMap(([conversation, times]) =>
    times.flatMap((at) => {
      const own = ofDesk.get(conversation) ?? [];
      const start = own.find((call) => call.at === at && call.door === 'start');
      const before = own.findLast((call) => call.at < at);
      if (start === undefined || before === undefined) return [];
      return disturbances.some((disturbance) => mayRepeat(disturbance, before, start)) ? [] : [start];
    }),
  );
}
