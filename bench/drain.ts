import { setTimeout as sleep } from 'node:timers/promises';
import { startPracticeModel } from '../practice/server.ts';
import { endOf, people, startFleet } from '../test/fleet/fleet.ts';
import { aChatTarget, aModel, aSpec } from '../test/sweep-builders.ts';
import { formatReaches, formatTable } from './table.ts';

const turns = 5;
const callsOfRun = turns * 2;
/** Of the sweep's builder; a worker's grace is this and 15 s. */
const callTimeoutSeconds = 20;
const limitSeconds = callTimeoutSeconds + 15;
const runs = 100;

type Drained = {
  readonly latencyMs: number;
  /** Of both workers, when one of them was asked to go. */
  readonly callsInFlight: number;
  readonly exit: number | string;
  readonly seconds: number;
  readonly repeated: number;
};

/** One of two workers is asked to go with calls in flight: how long it takes, and whether a call was made twice. */
export async function measureDrain({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const drained: Drained[] = [];
  for (const latencyMs of isQuick ? [500] : [500, 5_000]) drained.push(await drainOne(latencyMs));
  return describe(drained);
}

async function drainOne(latencyMs: number): Promise<Drained> {
  const practice = await startPracticeModel({ latencyMs });
  const fleet = await startFleet(0);
  try {
    const flags = ['--grace', `${limitSeconds}s`];
    const [leaving] = await Promise.all([fleet.addWorker(flags), fleet.addWorker(flags)]);
    const target = aChatTarget({ system: 'You are the desk for order {input.order}.' });
    const spec = aSpec(aModel(practice.url), { concurrency: runs, targets: [target] });
    await fleet.start(await fleet.plan('drained', spec, people(runs)));
    while (practice.stats().calls < runs * 3 || practice.stats().in_flight === 0) await sleep(5);
    const callsInFlight = practice.stats().in_flight;
    const askedAt = performance.now();
    leaving.kill('SIGTERM');
    const exit = await leaving.gone;
    const seconds = (performance.now() - askedAt) / 1000;
    const { tally } = await endOf(fleet, 'drained');
    if (tally.outcomes.passed !== runs) throw new Error(`runs by outcome: ${JSON.stringify(tally.outcomes)}`);
    const repeated = practice.stats().calls - runs * callsOfRun;
    return { latencyMs, callsInFlight, exit, seconds, repeated };
  } finally {
    await fleet.stop();
    await practice.close();
  }
}

function describe(drained: readonly Drained[]): string {
  const table = formatTable(
    ['latency ms', 'calls in flight, both workers', 'exit code', 'SIGTERM to exit s', 'repeated calls'],
    drained.map(({ latencyMs, callsInFlight, exit, seconds, repeated }) => [
      latencyMs.toString(),
      callsInFlight.toString(),
      exit.toString(),
      seconds.toFixed(1),
      repeated.toString(),
    ]),
  );
  const slowest = Math.max(...drained.map(({ seconds }) => seconds));
  const repeated = drained.reduce((sum, one) => sum + one.repeated, 0);
  return `${table}\n${formatReaches([
    {
      what: 'SIGTERM to exit',
      limit: `< call timeout + 15 s (${limitSeconds} s)`,
      value: `${slowest.toFixed(1)} s`,
      reached: slowest < limitSeconds && drained.every(({ exit }) => exit === 0),
    },
    { what: 'calls made twice', limit: '0', value: repeated.toString(), reached: repeated === 0 },
  ])}`;
}
