import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, type Fleet, people, startFleet } from '../fleet/fleet.ts';
import { type Crew, createCrew, type Disturbance } from './disturbances.ts';
import { keepEvidence } from './evidence.ts';
import { type Played, readPlayed } from './played.ts';
import type { SeenCall } from './seen-call.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { callMs, nameVariable, type Pace, type Side, sides, stormSpec } from './sweeps.ts';
import { planStorm } from './weather.ts';
import { startWorld, type World } from './world.ts';

export type StormOptions = {
  readonly seed: number;
  readonly minutes: number;
  /** Half of them between models, half with the desk. */
  readonly runs: number;
  /** Told of what happens, a line at a time. */
  readonly say: (line: string) => void;
  /** Ends the storm and all that it started. */
  readonly signal: AbortSignal;
};

/** All that is known of a storm that is over. */
export type StormRecord = {
  readonly pace: Required<Pace>;
  /** Why the disk was not filled. */
  readonly diskSkipped?: string;
  readonly disturbances: readonly Disturbance[];
  readonly calls: readonly SeenCall[];
  readonly calm: Readonly<Record<Side, Played>>;
  readonly storm: Readonly<Record<Side, Played>>;
};

const workers = 4;
const window = 20;
const latency = { latencyMs: 400, jitterMs: 400 };
const faults = { rate429: 0.03, rate500: 0.03, drop: 0.02, cut: 0.01, hang: 0.01, retryAfterS: 2 };
const diskMiB = 96;
/** The undisturbed sweep would take this share of the storm's time at the storm's pace. */
const share = 0.75;
/** After the last disturbance. */
const endsWithinMs = 5 * 60_000;

/**
 * Plays both sweeps undisturbed, then again in a storm, and judges what it did. What it leaves in `folder` is to be
 * removed where all went well.
 */
export async function playStorm<Verdict>(
  options: StormOptions,
  judge: (record: StormRecord) => { readonly kept: boolean; readonly verdict: Verdict },
): Promise<{ readonly verdict: Verdict; readonly evidence?: string }> {
  const folder = await mkdtemp(join(tmpdir(), `regatta-storm-${options.seed}-`));
  const disk = mountSmallDisk(join(folder, 'store'), diskMiB);
  const stops: (() => unknown)[] = [() => disk?.unmount()];
  let isKept = false;
  try {
    const fleet = await startFleet(0, join(folder, 'store'));
    stops.unshift(() => fleet.stop());
    const crew = createCrew(fleet, disk, {
      flags: ['--slots', '24', '--grace', `${callMs / 1000 + 15}s`],
      nameVariable,
    });
    await Promise.all(Array.from({ length: workers }, crew.join));
    const record = await playBoth({ options, fleet, crew, disk, stops });
    const { kept, verdict } = judge(record);
    if (kept) return { verdict };
    isKept = true;
    await keepEvidence(folder, record, crew.logs());
    return { verdict, evidence: folder };
  } finally {
    for (const stop of stops) await stop();
    if (!isKept) await rm(folder, { recursive: true, force: true });
  }
}

type Stage = {
  readonly options: StormOptions;
  readonly fleet: Fleet;
  readonly crew: Crew;
  readonly disk: SmallDisk | undefined;
  readonly stops: (() => unknown)[];
};

async function playBoth(stage: Stage): Promise<StormRecord> {
  const { options, disk } = stage;
  const calmWorld = await openWorld(stage, {});
  options.say(`${options.runs} runs without a disturbance`);
  const calm = await playCalm(stage, calmWorld);
  const pace = paceOf(await calmWorld.calls(), options.minutes);
  calmWorld.stop();
  const world = await openWorld(stage, faults);
  options.say(
    `the same in a storm of ${options.minutes} min, at ${pace.rpm} calls a minute, ${pace.maxInFlight} in flight`,
  );
  const { disturbances, storm } = await playDisturbed(stage, world, pace);
  return {
    ...{ pace, disturbances, calm, storm, calls: await world.calls() },
    ...(disk === undefined ? { diskSkipped: 'mounting a small disk takes root' } : {}),
  };
}

async function openWorld({ options: { seed }, stops }: Stage, faults: object): Promise<World> {
  const world = await startWorld({ ...latency, seed, faults });
  stops.unshift(world.stop);
  return world;
}

async function playCalm(stage: Stage, world: World): Promise<StormRecord['calm']> {
  await start(stage, 'calm', world);
  return ends(stage, 'calm', endsWithinMs);
}

async function playDisturbed(
  stage: Stage,
  world: World,
  pace: Pace,
): Promise<Pick<StormRecord, 'disturbances' | 'storm'>> {
  const { options, crew } = stage;
  await start(stage, 'storm', world, pace);
  const begunAt = Date.now();
  const lengthMs = options.minutes * 60_000;
  const suffered = planStorm(options.seed, lengthMs).map(async (gust) => {
    await sleep(gust.atMs, undefined, { signal: options.signal });
    const came = await crew.suffer(gust, options.signal);
    const seconds = ((came?.from ?? Date.now()) - begunAt) / 1000;
    const of = came === undefined ? 'nobody to hit' : (came.worker ?? '');
    options.say(
      `${seconds.toFixed(1).padStart(6)} s  ${gust.kind.padEnd(6)} ${(gust.forMs / 1000).toFixed(1).padStart(5)} s  ${of}`,
    );
    return came;
  });
  const disturbances = await Promise.all(suffered);
  return {
    disturbances: disturbances.filter((came) => came !== undefined).toSorted((a, b) => a.from - b.from),
    storm: await ends(stage, 'storm', endsWithinMs),
  };
}

/** So many calls a minute that the sweeps last as long as the storm, and room for them in flight that is just enough. */
function paceOf(calls: readonly SeenCall[], minutes: number): Required<Pace> {
  const ofModel = calls.filter(({ door }) => door === 'model').length;
  const rpm = Math.ceil(ofModel / (share * minutes));
  const seconds = (latency.latencyMs + latency.jitterMs / 2) / 1000;
  return { rpm, maxInFlight: Math.ceil((rpm / 60) * seconds * 1.5) + 2 };
}

async function start({ options, fleet }: Stage, name: string, world: World, pace?: Pace): Promise<void> {
  const { seed, runs } = options;
  for (const [index, side] of sides.entries()) {
    const spec = stormSpec(side, world, { seed, window, ...(pace === undefined ? {} : { pace }) });
    const scenarios = people(Math.ceil(runs / sides.length));
    const record = await fleet.plan(`${name}-${side}`, spec, scenarios, Math.ceil(scenarios.length / 2));
    // Each seed plays one of them as workflows of their own, the other one inline.
    await fleet.start(record, { inline: (seed + index) % 2 === 0 });
  }
}

/** What became of both sweeps once they have ended, or once it takes too long. */
async function ends(
  { options, fleet }: Stage,
  name: string,
  limitMs: number,
): Promise<Readonly<Record<Side, Played>>> {
  const over = Promise.all(sides.map((side) => endOf(fleet, `${name}-${side}`)));
  over.catch(() => {});
  const timer = new AbortController();
  const late = sleep(limitMs, undefined, { signal: AbortSignal.any([options.signal, timer.signal]) });
  await Promise.race([over, late]).finally(() => timer.abort());
  late.catch(() => {});
  const [chat, desk] = await Promise.all(sides.map((side) => readPlayed(fleet, `${name}-${side}`)));
  if (chat === undefined || desk === undefined) throw new Error('a side is missing');
  return { chat, desk };
}
