import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  areIdle,
  grantLease,
  noLeases,
  type PaceAmounts,
  type PaceAsk,
  type PaceDemand,
  type PaceLease,
  type PaceLeases,
  quietLeases,
  wholeOf,
} from '../../domain/pace-lease.ts';

const aDemand = (given: Partial<PaceDemand> = {}): PaceDemand => ({
  inFlight: 0,
  calls: 10,
  rpm: 100,
  tpm: 0,
  isShort: true,
  oldest: 1,
  ...given,
});

/** An endpoint whose askers keep to what they were granted last, unless told otherwise. */
function anEndpoint(whole: PaceAmounts, start: PaceLeases = noLeases) {
  const numbers = new Map<string, number>();
  const endpoint = {
    leases: start,
    ask(holder: string, now: number, demand?: Partial<PaceDemand>, given: Partial<PaceAsk> = {}): PaceLease {
      const before = numbers.get(holder);
      const number = (before ?? 0) + 1;
      numbers.set(holder, number);
      const keeps = before === undefined ? {} : { keeps: before };
      const ask = { holder, number, ...keeps, whole, demand: aDemand(demand), ...given };
      const granted = grantLease(endpoint.leases, ask, now);
      endpoint.leases = granted.leases;
      return granted.lease;
    },
    leave(holder: string, now: number): void {
      const number = (numbers.get(holder) ?? 0) + 1;
      numbers.delete(holder);
      endpoint.leases = grantLease(endpoint.leases, { holder, number, whole }, now).leases;
    },
  };
  return endpoint;
}

describe('what an endpoint declares', () => {
  it('is rpm, tpm and a max_in_flight that is not the default', () => {
    assert.equal(wholeOf({ maxInFlight: 256 }), undefined);
    assert.deepEqual(wholeOf({ maxInFlight: 4 }), { maxInFlight: 4 });
    assert.deepEqual(wholeOf({ maxInFlight: 256, rpm: 60, tpm: 9000 }), { rpm: 60, tpm: 9000 });
  });
});

describe('a lease', () => {
  it('is of all that the endpoint grants, for a worker that is alone', () => {
    const { ask } = anEndpoint({ rpm: 2.5, tpm: 1000, maxInFlight: 8 });
    assert.deepEqual(ask('a', 0).share, { rpm: 2.5, tpm: 1000, maxInFlight: 8 });
  });

  it('is passed on within a renewal: who has too much is asked to say when it keeps to less', () => {
    const { ask } = anEndpoint({ rpm: 600 });
    ask('a', 0);
    const early = ask('b', 1000);
    assert.deepEqual([early.share, early.renewInMs], [undefined, 1000]);
    const smaller = ask('a', 5000);
    assert.deepEqual([smaller.share, smaller.renewInMs], [{ rpm: 300 }, 0]);
    // The answer may not have come yet.
    assert.equal(ask('b', 5010).share, undefined);
    assert.equal(ask('a', 5020).renewInMs, 5000);
    assert.deepEqual(ask('b', 6000).share, { rpm: 300 });
  });

  it('follows demand', () => {
    const { ask } = anEndpoint({ rpm: 600, maxInFlight: 40 });
    ask('a', 0, { calls: 30 });
    ask('b', 10, { calls: 10 });
    ask('a', 5000, { calls: 30 });
    ask('a', 5010, { calls: 30 });
    assert.deepEqual(ask('b', 5020, { calls: 10 }).share, { rpm: 157, maxInFlight: 10 });
  });

  it('leaves to others what its worker cannot use', () => {
    const { ask } = anEndpoint({ rpm: 600 });
    const slow = { isShort: false, rpm: 40 };
    ask('a', 0, slow);
    ask('b', 10);
    ask('a', 5000, slow);
    ask('a', 5010, slow);
    assert.deepEqual(ask('b', 5020).share, { rpm: 554 });
  });

  it('that was not renewed is free after its life, and not before', () => {
    const { ask } = anEndpoint({ rpm: 600 });
    ask('killed', 0);
    assert.equal(ask('b', 9_999).share, undefined);
    assert.deepEqual(ask('b', 10_000).share, { rpm: 600 });
  });

  it('that was given back is free at once', () => {
    const endpoint = anEndpoint({ rpm: 600 });
    endpoint.ask('a', 0);
    endpoint.leave('a', 100);
    assert.ok(areIdle(endpoint.leases, 100));
    assert.deepEqual(endpoint.ask('b', 100).share, { rpm: 600 });
  });

  it('is not granted from what an unanswered holder may still use', () => {
    const { ask } = anEndpoint({ rpm: 600 });
    ask('a', 0);
    ask('b', 10);
    // Heard, but the answer was lost: the holder asks again under its first lease.
    ask('a', 5000);
    ask('a', 6000, {}, { keeps: 1 });
    assert.equal(ask('b', 6010).share, undefined);
  });

  it('takes no notice of an ask that arrives after a later one', () => {
    const endpoint = anEndpoint({ rpm: 600 });
    endpoint.ask('a', 0);
    endpoint.ask('a', 10);
    const { leases } = endpoint;
    endpoint.ask('a', 20, {}, { number: 1 });
    assert.equal(endpoint.leases, leases);
  });

  it('counts calls that are still in flight as used', () => {
    const { ask } = anEndpoint({ maxInFlight: 4 });
    ask('a', 0, { calls: 4 });
    ask('b', 10, { calls: 4 });
    const busy = { calls: 4, inFlight: 4 };
    assert.deepEqual(ask('a', 5000, busy).share, { maxInFlight: 2 });
    ask('a', 5010, busy);
    assert.equal(ask('b', 5020, { calls: 4 }).share, undefined);
    ask('a', 6000, { calls: 3, inFlight: 2 });
    assert.deepEqual(ask('b', 6010, { calls: 4 }).share, { maxInFlight: 2 });
  });

  it('is of the least that live workers have been told of', () => {
    const { ask } = anEndpoint({ rpm: 600 });
    ask('a', 0);
    ask('b', 10, {}, { whole: { rpm: 100 } });
    assert.deepEqual(ask('a', 20).share, { rpm: 50 });
  });

  it('lives longer in a large fleet, so that ten asks a second are enough', () => {
    const { ask } = anEndpoint({ rpm: 100_000 });
    for (let index = 1; index < 200; index += 1) ask(`w${index}`, 0);
    const { lifeMs, renewInMs } = ask('w200', 0, { isShort: false });
    assert.ok(lifeMs === 40_000 && renewInMs <= 20_000);
  });

  it('is not granted for one life by a successor who may not know of others', () => {
    const { ask } = anEndpoint({ rpm: 600 }, quietLeases(0));
    const early = ask('a', 4000);
    assert.deepEqual([early.share, early.renewInMs], [undefined, 6000]);
    assert.deepEqual(ask('a', 10_000).share, { rpm: 600 });
  });
});

describe('where there are fewer shares than workers', () => {
  /** Who has the one share, asked by all as often as they do. */
  function holdersOf(whole: PaceAmounts, oldest: readonly number[], seconds: number): readonly number[] {
    const { ask } = anEndpoint(whole);
    const due = oldest.map((_, index) => index * 300);
    const holders: number[] = [];
    let holder = -1;
    for (let now = 0; now < seconds * 1000; now += 10) {
      oldest.forEach((age, index) => {
        if (now < (due[index] ?? 0)) return;
        const { share, renewInMs } = ask(`w${index}`, now, { oldest: age, calls: 1 });
        due[index] = now + renewInMs;
        if (share !== undefined) holder = index;
      });
      if (now % 1000 === 0) holders.push(holder);
    }
    return holders;
  }

  it('the one with the older run has it for longer', () => {
    const holders = holdersOf({ maxInFlight: 1 }, [20, 10], 600).slice(60);
    const seconds = (worker: number) => holders.filter((holder) => holder === worker).length;
    assert.ok(seconds(1) > seconds(0), `${seconds(1)} and ${seconds(0)}`);
  });

  for (const [rpm, workers, longest] of [
    [undefined, 2, 20],
    [20, 2, 20],
    [3, 2, 130],
    [undefined, 5, 40],
  ] as const) {
    const name = rpm === undefined ? 'one call in flight' : `${rpm} calls a minute`;
    it(`${workers} workers take turns at ${name}, and nobody waits for more than ${longest} s`, () => {
      const whole = rpm === undefined ? { maxInFlight: 1 } : { rpm };
      const oldest = Array.from({ length: workers }, (_, index) => index);
      const holders = holdersOf(whole, oldest, 600);
      for (const worker of oldest) {
        let waited = 0;
        for (const holder of holders) {
          waited = holder === worker ? 0 : waited + 1;
          assert.ok(waited <= longest, `worker ${worker} waited for ${waited} s`);
        }
      }
    });
  }

  it('a slow endpoint is given to one worker at a time, for a minute', () => {
    const holders = holdersOf({ rpm: 3 }, [1, 2], 600);
    const turns = holders.reduce<number[]>((lengths, holder, second) => {
      if (holder !== holders[second - 1]) lengths.push(0);
      lengths[lengths.length - 1] = (lengths.at(-1) ?? 0) + 1;
      return lengths;
    }, []);
    assert.ok(
      turns.slice(0, -1).every((length) => length >= 59),
      turns.join(' '),
    );
  });
});
