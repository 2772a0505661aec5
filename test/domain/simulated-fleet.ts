import { createDemandCount, type DemandCount } from '../../adapters/pace-demand.ts';
import {
  afterReturn,
  afterSending,
  changeLimits,
  isShort,
  leaseLimits,
  type Pace,
  type SentCall,
  startPace,
  waitOf,
} from '../../domain/pace.ts';
import {
  grantLease,
  noLeases,
  type PaceAmounts,
  type PaceAsk,
  type PaceLease,
  type PaceLeases,
} from '../../domain/pace-lease.ts';
import { uniformChoices } from '../../domain/random.ts';

export type SimulatedWorker = {
  readonly id: string;
  /** Conversations that always want to call. */
  conversations: number;
  /** How long a call takes. */
  readonly callMs: number;
  readonly startsAt: number;
  /** Dies then, with all its calls. */
  readonly killedAt?: number;
};

export type Simulation = {
  readonly whole: PaceAmounts;
  readonly workers: readonly SimulatedWorker[];
  readonly seconds: number;
  readonly seed: number;
  /** The share of answers and asks that are lost; default 0. */
  readonly lost?: number;
  /** Looked at after every step. */
  readonly watch?: (moment: Moment) => void;
};

export type Moment = {
  readonly at: number;
  readonly inFlight: number;
  /** What the living may use by their own clocks. */
  readonly inForce: readonly PaceAmounts[];
};

export type Simulated = {
  /** When each call was sent, by whom. */
  readonly calls: readonly { readonly at: number; readonly by: string }[];
  readonly asks: number;
};

const stepMs = 20;
const unansweredMs = 4_000;

/** Plays a fleet with the real pace and the real leases, on a clock of its own; messages take up to 300 ms. */
export function simulateFleet({ whole, workers, seconds, seed, lost = 0, watch }: Simulation): Simulated {
  const draw = uniformChoices(seed, 'fleet');
  let drawn = 0;
  const chance = () => draw(drawn++);
  const calls: { at: number; by: string }[] = [];
  let leases: PaceLeases = noLeases;
  let asks = 0;
  let at = 0;
  const model = { maxInFlight: 256, ...whole };
  const states = workers.map((worker) => aState(worker, model, () => at));

  function heard(state: State, air: InTheAir): void {
    asks += 1;
    const granted = grantLease(leases, air.ask, at);
    leases = granted.leases;
    if (air.isAnswerLost) return;
    air.answer = granted.lease;
    air.answerAt = at + chance() * 300;
    void state;
  }

  function ask(state: State): void {
    const demand = state.demand.take();
    if (demand === undefined) return;
    state.number += 1;
    const { last } = state;
    const keeps = last !== undefined && at < last.until ? { keeps: last.number } : {};
    state.air = {
      ask: { holder: state.worker.id, number: state.number, ...keeps, whole, demand },
      sentAt: at,
      heardAt: chance() < lost ? Number.POSITIVE_INFINITY : at + chance() * 300,
      answerAt: Number.POSITIVE_INFINITY,
      isAnswerLost: chance() < lost,
    };
    state.askAt = at + unansweredMs + 1_000;
  }

  function take(state: State, air: InTheAir, lease: PaceLease): void {
    const until = air.sentAt + lease.lifeMs;
    state.last = { number: air.ask.number, until, share: lease.share };
    const held = lease.share === undefined ? undefined : { share: lease.share, until };
    state.pace = changeLimits(state.pace, leaseLimits(model, held), at);
    state.askAt = at + lease.renewInMs;
    state.air = undefined;
  }

  for (; at < seconds * 1000; at += stepMs) {
    for (const state of states) {
      const { worker } = state;
      const { air } = state;
      // What a dead worker had sent still arrives.
      if (air !== undefined && air.heardAt <= at) {
        air.heardAt = Number.POSITIVE_INFINITY;
        heard(state, air);
      }
      if (at < worker.startsAt || at >= (worker.killedAt ?? Number.POSITIVE_INFINITY)) {
        state.flight = [];
        continue;
      }
      if (air?.answer !== undefined && air.answerAt <= at) take(state, air, air.answer);
      if (air !== undefined && at - air.sentAt > unansweredMs) state.air = undefined;
      call(state, at, calls);
      if (at >= state.askAt) ask(state);
    }
    watch?.({
      at,
      inFlight: states.reduce((sum, { flight }) => sum + flight.length, 0),
      inForce: states.flatMap((state) => shareInForce(state, at)),
    });
  }
  return { calls, asks };
}

type InTheAir = {
  readonly ask: PaceAsk;
  readonly sentAt: number;
  heardAt: number;
  answerAt: number;
  answer?: PaceLease;
  readonly isAnswerLost: boolean;
};

type State = {
  readonly worker: SimulatedWorker;
  readonly demand: DemandCount;
  pace: Pace;
  flight: { readonly sent: SentCall; readonly endsAt: number }[];
  number: number;
  last:
    | { readonly number: number; readonly until: number; readonly share: PaceAmounts | undefined }
    | undefined;
  air: InTheAir | undefined;
  askAt: number;
};

function aState(
  worker: SimulatedWorker,
  model: PaceAmounts & { readonly maxInFlight: number },
  now: () => number,
): State {
  const pace = startPace(leaseLimits(model, undefined), 0);
  return {
    worker,
    demand: createDemandCount(now),
    pace,
    flight: [],
    number: 0,
    last: undefined,
    air: undefined,
    askAt: worker.startsAt,
  };
}

/** Ends the calls that are over, and sends as many as the pace lets. */
function call(state: State, at: number, calls: { at: number; by: string }[]): void {
  const { worker, demand } = state;
  const over = state.flight.filter(({ endsAt }) => endsAt <= at);
  state.flight = state.flight.filter(({ endsAt }) => endsAt > at);
  const waiting = () => Math.max(0, worker.conversations - state.flight.length);
  for (const { sent } of over)
    state.pace = afterReturn(state.pace, sent, { kind: 'served', tokens: sent.tokens }, waiting(), at);
  while (waiting() > 0 && waitOf(state.pace, at) === 0) {
    const sent = { number: state.pace.next, tokens: 100 };
    state.pace = afterSending(state.pace, sent.tokens, at);
    state.flight.push({ sent, endsAt: at + worker.callMs });
    demand.entered(worker.startsAt);
    demand.sent(sent.tokens);
    calls.push({ at, by: worker.id });
  }
  demand.stands({
    inFlight: state.flight.length,
    waiting: waiting(),
    isShort: waiting() > 0 && isShort(state.pace, at),
  });
}

function shareInForce({ worker, last }: State, at: number): readonly PaceAmounts[] {
  const isAlive = at < (worker.killedAt ?? Number.POSITIVE_INFINITY);
  return isAlive && last?.share !== undefined && at < last.until ? [last.share] : [];
}
