import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PaceAmounts } from '../../domain/pace-lease.ts';
import { uniform } from '../../domain/random.ts';
import { type Moment, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';

const aWorker = (id: string, given: Partial<SimulatedWorker> = {}): SimulatedWorker => ({
  id,
  conversations: 50,
  callMs: 1000,
  startsAt: 0,
  ...given,
});

/** The most and the fewest calls of any minute that lies between two times, in milliseconds. */
function minutes(calls: readonly { readonly at: number }[], from: number, to: number) {
  const counts: number[] = [];
  for (let start = from; start + 60_000 <= to; start += 100)
    counts.push(calls.filter(({ at }) => at >= start && at < start + 60_000).length);
  return { most: Math.max(...counts), fewest: Math.min(...counts) };
}

describe('a simulated fleet', () => {
  for (const rpm of [60, 120, 600, 3000]) {
    for (const count of [1, 2, 4]) {
      it(`calls ${rpm} times a minute with ${count} workers: never more, and at most a tenth less`, () => {
        const workers = Array.from({ length: count }, (_, index) =>
          aWorker(`w${index}`, { startsAt: index * 3_000, conversations: 100 + index * 50 }),
        );
        const { calls } = simulateFleet({ whole: { rpm }, workers, seconds: 150, seed: count });
        assert.ok(minutes(calls, 0, 150_000).most <= rpm);
        assert.ok(minutes(calls, 30_000, 150_000).fewest >= rpm * 0.9);
      });
    }
  }

  it('keeps its pace with slow and fast workers', () => {
    const workers = [
      aWorker('slow', { callMs: 10_000, conversations: 20 }),
      aWorker('fast', { callMs: 200 }),
    ];
    const { calls } = simulateFleet({ whole: { rpm: 600 }, workers, seconds: 150, seed: 1 });
    assert.ok(minutes(calls, 0, 150_000).most <= 600);
    assert.ok(minutes(calls, 30_000, 150_000).fewest >= 540);
  });

  it('has the share of a killed worker back within 16 s', () => {
    const killedAt = 60_000;
    const workers = ['a', 'b', 'c', 'd'].map((id) => aWorker(id, id === 'd' ? { killedAt } : {}));
    const { calls } = simulateFleet({ whole: { rpm: 600 }, workers, seconds: 150, seed: 2 });
    assert.ok(minutes(calls, 0, 150_000).most <= 600);
    assert.ok(minutes(calls, killedAt + 16_000, 150_000).fewest >= 540);
  });

  it('keeps to an agreed number of tokens a minute and one call of each worker', () => {
    const workers = ['a', 'b'].map((id) => aWorker(id));
    const { calls } = simulateFleet({ whole: { tpm: 60_000 }, workers, seconds: 150, seed: 3 });
    assert.ok(minutes(calls, 0, 150_000).most * 100 <= 60_200);
    assert.ok(minutes(calls, 30_000, 150_000).fewest * 100 >= 54_000);
  });

  it('asks about every five seconds a worker', () => {
    const workers = ['a', 'b', 'c', 'd'].map((id) => aWorker(id));
    const { asks } = simulateFleet({ whole: { rpm: 600 }, workers, seconds: 300, seed: 4 });
    assert.ok(asks <= 4 * 60 * 1.25, `${asks}`);
  });

  for (let seed = 1; seed <= 20; seed += 1) {
    it(`never grants more than there is, whatever is lost and whoever is killed (seed ${seed})`, () => {
      const chance = (name: string, index = 0) => uniform(seed, name, index);
      const whole: PaceAmounts = {
        rpm: Math.round(20 + 2000 * chance('rpm') ** 3),
        maxInFlight: Math.round(1 + 60 * chance('in flight') ** 2),
      };
      const workers = Array.from({ length: 1 + Math.floor(chance('workers') * 8) }, (_, index) =>
        aWorker(`w${index}`, {
          conversations: 1 + Math.floor(chance('conversations', index) * 40),
          callMs: 50 + Math.floor(5_000 * chance('call', index) ** 2),
          startsAt: Math.floor(30_000 * chance('start', index)),
          ...(chance('fate', index) < 0.5
            ? { killedAt: 30_000 + Math.floor(60_000 * chance('end', index)) }
            : {}),
        }),
      );
      const { calls } = simulateFleet({ whole, workers, seconds: 120, seed, lost: 0.1, watch });
      assert.ok(minutes(calls, 0, 120_000).most <= (whole.rpm ?? 0));

      function watch({ at, inFlight, inForce }: Moment): void {
        assert.ok(inFlight <= (whole.maxInFlight ?? 0), `${inFlight} calls in flight at ${at}`);
        for (const kind of ['rpm', 'maxInFlight'] as const) {
          const granted = inForce.reduce((sum, share) => sum + (share[kind] ?? 0), 0);
          assert.ok(granted <= (whole[kind] ?? 0), `${granted} ${kind} granted at ${at}`);
        }
      }
    });
  }
});
