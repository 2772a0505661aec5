import type { Reach } from '../../bench/table.ts';
import { busiestMinute, mostInFlight } from './paces.ts';
import type { Played } from './played.ts';
import { findRepeats, restartsOf, unexplainedRestarts } from './repeated-calls.ts';
import type { SeenCall } from './seen-call.ts';
import { callsAfterClose, neverClosed } from './sessions.ts';
import type { StormRecord } from './storm.ts';
import { sides } from './sweeps.ts';

/** One promise: what it allows, what came, and what broke it, a line each. */
export type Promised = Reach & { readonly broken: readonly string[] };

/** What was promised and what was kept. */
export function judgePromises(record: StormRecord): readonly Promised[] {
  const { calls, disturbances, pace, storm } = record;
  const repeats = findRepeats(calls, disturbances);
  const unexplained = repeats.filter(({ why }) => why.kind === 'unexplained');
  const restarts = unexplainedRestarts(calls, disturbances);
  const heardTwice = repeats.filter(({ call }) => call.door === 'chat');
  const sessions = Object.values(storm.desk.runs).flatMap((run) => run.sessions);
  const drains = disturbances.filter(({ kind, exit }) => kind === 'drain' && exit !== 0);
  const ofModel = calls.filter(({ door }) => door === 'model');
  return [
    none(
      'runs that have not ended once',
      sides.flatMap((side) => notEndedOnce(storm[side])),
    ),
    none(
      'runs that differ from the undisturbed ones',
      sides.flatMap((side) => differences(record, side)),
    ),
    none(
      'repeated calls beyond the promise',
      unexplained.map(({ before, call }) => `${tell(before)}\n    again: ${tell(call)}`),
    ),
    none('conversations begun again for no reason', restarts.map(tell)),
    none(
      'messages heard twice in a session',
      heardTwice.map(({ call }) => tell(call)),
    ),
    none('calls after a session was closed', callsAfterClose(calls).map(tell)),
    none('known sessions left open', neverClosed(calls, sessions)),
    none(
      'drains that did not exit with 0',
      drains.map(({ worker, exit }) => `${worker}: ${exit}`),
    ),
    atMost('calls in any minute', pace.rpm, busiestMinute(ofModel)),
    atMost('calls in flight', pace.maxInFlight, mostInFlight(ofModel, disturbances)),
  ];
}

function none(what: string, broken: readonly string[]): Promised {
  return { what, limit: '0', value: String(broken.length), reached: broken.length === 0, broken };
}

function atMost(what: string, limit: number, value: number): Promised {
  const reached = value <= limit;
  return { what, limit: String(limit), value: String(value), reached, broken: [] };
}

function tell({ at, door, role, worker, conversation, key, fault }: SeenCall): string {
  return `${new Date(at).toISOString()} ${conversation} ${role ?? door} by ${worker}, ${fault ?? 'no fault'}: ${key}`;
}

function notEndedOnce({ planned, results, runs, counted }: Played): readonly string[] {
  const twice = results.filter((run, index) => results.indexOf(run) !== index);
  const endedTwice = Object.entries(runs).flatMap(([run, { endings }]) => (endings === 1 ? [] : [run]));
  const sum = Object.values(counted ?? {}).reduce((total, count) => total + count, 0);
  const missing = Array.from(
    { length: Math.max(0, planned - Math.min(sum, results.length)) },
    () => 'a run has no result',
  );
  return [...twice, ...endedTwice, ...missing];
}

function differences({ calm, storm }: StormRecord, side: (typeof sides)[number]): readonly string[] {
  return Object.entries(calm[side].runs).flatMap(([run, undisturbed]) => {
    const played = storm[side].runs[run];
    if (played === undefined) return [];
    const [was, is] = [undisturbed, played].map(({ outcome, ending, words }) =>
      JSON.stringify([outcome, ending, words]),
    );
    return was === is ? [] : [`${side} ${run}: ${is} ${played.why ?? ''}\n    undisturbed: ${was}`];
  });
}

/** What happened, as numbers. */
export function figuresOf(record: StormRecord): readonly (readonly [string, string])[] {
  const { calls, disturbances, diskSkipped, storm } = record;
  const repeats = findRepeats(calls, disturbances);
  const runs = sides.flatMap((side) => Object.values(storm[side].runs));
  const doors = Object.groupBy(calls, ({ door }) => door);
  const hit = (kind: string) =>
    disturbances.filter((disturbance) => disturbance.kind === kind).length.toString();
  const disturbed = repeats.filter(({ why }) => why.kind === 'disturbed').length;
  return [
    ['runs', runs.length.toString()],
    ['workers killed', hit('kill')],
    ['workers drained', hit('drain')],
    ['workers frozen', hit('freeze')],
    ['server crashes', hit('server')],
    ['full disks', diskSkipped === undefined ? hit('disk') : `skipped: ${diskSkipped}`],
    ['calls of the model', (doors.model?.length ?? 0).toString()],
    ['of these failed by the model', calls.filter(({ fault }) => fault !== undefined).length.toString()],
    ['calls of the desk', (calls.length - (doors.model?.length ?? 0)).toString()],
    ['runs taken over', runs.filter(({ resumptions }) => resumptions > 0).length.toString()],
    ['repeated calls', disturbed.toString()],
    ['conversations begun again', [...restartsOf(calls).values()].flat().length.toString()],
  ];
}
