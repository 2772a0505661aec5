import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelSpec } from '../../domain/sweep-spec.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { aChatTarget, aModel, aSpec } from '../sweep-builders.ts';
import { type Fleet, people, startFleet } from './fleet.ts';

// One fleet, three endpoints, four sweeps, and about a minute in which workers come, are killed and are frozen.
// How precisely a pace is kept is measured by the bench; here, that it is never exceeded and mostly used.

const rpm = 600;
const tpm = 60_000;
const maxInFlight = 12;
/** As many conversations at once as four workers have slots for, so that each of them plays some of each sweep. */
const windows = { minute: 40, older: 20, newer: 20, tokens: 16 } as const;
type Name = keyof typeof windows;
const slots = ['--slots', '24'];

type Noted = { readonly at: number; readonly amount: number; readonly by?: string };
const calls = { minute: [] as Noted[], flight: [] as Noted[] };
const tokens: Noted[] = [];
const times = { fourWorkers: 0, killed: 0, frozen: 0, woken: 0, end: 0 };
const practices: PracticeModel[] = [];
let inFlight: PracticeModel;
let fleet: Fleet;

before(async () => {
  const minute = await startPracticeModel({ latencyMs: 400, onCall: noteIn(calls.minute) });
  inFlight = await startPracticeModel({ latencyMs: 300, onCall: noteIn(calls.flight) });
  const words = await startPracticeModel({
    latencyMs: 300,
    onAnswer: (amount) => tokens.push({ at: performance.now(), amount }),
  });
  practices.push(minute, inFlight, words);
  fleet = await startFleet(0);
  await fleet.addWorker(slots);
  await play('minute', minute, { rpm });
  await play('older', inFlight, { maxInFlight });
  await play('tokens', words, { tpm });
  await fleet.addWorker(slots);
  await play('newer', inFlight, { maxInFlight });
  await Promise.all([fleet.addWorker(slots), fleet.addWorker(slots)]);
  await disturb();
});

after(async () => {
  await fleet?.stop();
  await Promise.all(practices.map((practice) => practice.close()));
});

function noteIn(list: Noted[]) {
  return (conversation = ''): void => {
    list.push({ at: performance.now(), amount: 1, by: conversation });
  };
}

async function play(name: Name, practice: PracticeModel, pace: Partial<ModelSpec>): Promise<void> {
  const prompt = `This is conversation ${name}-{input.order}.`;
  const spec = aSpec(aModel(practice.url, pace), {
    concurrency: windows[name],
    driver: {
      ...{ kind: 'model', model: 'practice', prompt: `${prompt} You are the customer.` },
      ...{ temperature: 0.6, temperatureGiven: false, managed: false },
    },
    targets: [aChatTarget({ system: `${prompt} You are the desk.` })],
  });
  await fleet.start(await fleet.plan(name, spec, people(900), 300), { inline: true });
}

async function disturb(): Promise<void> {
  await sleep(8_000);
  times.fourWorkers = performance.now();
  await sleep(12_000);
  times.killed = performance.now();
  fleet.workers[1]?.kill('SIGKILL');
  await sleep(24_000);
  times.frozen = performance.now();
  fleet.workers[2]?.kill('SIGSTOP');
  await sleep(13_000);
  times.woken = performance.now();
  fleet.workers[2]?.kill('SIGCONT');
  await sleep(6_000);
  times.end = performance.now();
}

/** The most in any minute that begins with one of them. */
function busiestMinute(noted: readonly Noted[]): number {
  const sums = noted.map(({ at }) => sumOf(noted, at, at + 60_000));
  return Math.max(...sums);
}

function sumOf(noted: readonly Noted[], from: number, to: number): number {
  return noted.reduce((sum, { at, amount }) => sum + (at >= from && at < to ? amount : 0), 0);
}

describe('a fleet whose workers come, are killed and are frozen', () => {
  it('calls no more often in any minute than agreed', () => {
    const most = busiestMinute(calls.minute);
    assert.ok(most <= rpm, `${most} calls in a minute`);
  });

  it('uses most of what was agreed, with four workers and again after one was killed', () => {
    for (const [from, to] of [
      [times.fourWorkers, times.killed],
      [times.killed + 16_000, times.frozen],
    ] as const) {
      const perMinute = (sumOf(calls.minute, from, to) * 60_000) / (to - from);
      assert.ok(perMinute >= rpm * 0.75, `${perMinute} calls a minute`);
    }
  });

  it('has no more calls in flight than agreed, also when a worker wakes up after its lease has ended', () => {
    assert.equal(inFlight.stats().max_in_flight, maxInFlight);
    assert.ok(sumOf(calls.flight, times.woken, times.end) > 0);
  });

  it('shares an endpoint between sweeps of equal size so that each has a good part', () => {
    const both = calls.flight.filter(({ at }) => at >= times.fourWorkers);
    for (const name of ['older', 'newer']) {
      const part = both.filter(({ by }) => by?.startsWith(name)).length / both.length;
      assert.ok(part >= 0.3, `${name}: ${part}`);
    }
  });

  it('uses no more tokens in any minute than agreed, but for 2 %: they are known only with the answer', () => {
    const most = busiestMinute(tokens);
    assert.ok(most <= tpm * 1.02, `${most} tokens in a minute`);
    assert.ok(most >= tpm * 0.5, `${most} tokens in a minute`);
  });
});
