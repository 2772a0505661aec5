import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, type Fleet, people, startFleet } from '../test/fleet/fleet.ts';
import { aChatTarget, aModel, aSpec } from '../test/sweep-builders.ts';
import { type PracticeProcess, startPracticeProcess } from './practice-process.ts';
import { commandLine, listProcesses } from './processes.ts';
import { formatTable } from './table.ts';

type Scene = {
  readonly way: string;
  readonly workers: number;
  readonly inline: boolean;
  readonly runs: number;
  readonly latencyMs: number;
  /** Of each worker. */
  readonly slots: number;
};

type Played = Scene & {
  readonly wallSeconds: number;
  /** User and system time between the start of the sweep and its end. */
  readonly workerCpuSeconds: readonly number[];
  readonly serverCpuSeconds: number;
};

const window = 200;
const callsOfRun = 2;

/** The same sweep by one worker process and by two: who takes how much of the processors, and what it brings. */
export async function measureFleet({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const played: Played[] = [];
  for (const scene of [
    { way: 'inline, models wait', inline: true, runs: isQuick ? 60 : 600, latencyMs: 500, slots: 20 },
    { way: 'inline', inline: true, runs: isQuick ? 500 : 4_000, latencyMs: 50, slots: window },
    { way: 'a workflow each', inline: false, runs: isQuick ? 200 : 1_000, latencyMs: 50, slots: window },
  ])
    for (const workers of [1, 2]) played.push(await playScene({ ...scene, workers }));
  return describe(played);
}

async function playScene(scene: Scene): Promise<Played> {
  const practice = startPracticeProcess(scene.latencyMs);
  const { url } = await practice.reset();
  const fleet = await startFleet(0);
  try {
    for (let index = 0; index < scene.workers; index += 1)
      await fleet.addWorker(['--slots', String(scene.slots)]);
    const spec = aSpec(aModel(url), {
      concurrency: window,
      conversation: { first: 'driver', maxTurns: 1 },
      targets: [aChatTarget({ system: 'You are the desk for order {input.order}.' })],
    });
    const record = await fleet.plan('played', spec, people(scene.runs), 200);
    const before = cpuOf(fleet);
    await fleet.start(record, { inline: scene.inline });
    const { firstCallAt } = await firstCall(practice);
    const { tally } = await endOf(fleet, 'played');
    const wallSeconds = (Date.now() - firstCallAt) / 1000;
    const after = cpuOf(fleet);
    const { stats } = await practice.seen();
    if (tally.outcomes.passed !== scene.runs || stats.calls !== scene.runs * callsOfRun)
      throw new Error(`${stats.calls} calls, runs by outcome: ${JSON.stringify(tally.outcomes)}`);
    return {
      ...scene,
      wallSeconds,
      workerCpuSeconds: after.workers.map((seconds, index) => seconds - (before.workers[index] ?? 0)),
      serverCpuSeconds: after.server - before.server,
    };
  } finally {
    await fleet.stop();
    practice.stop();
  }
}

async function firstCall(practice: PracticeProcess): Promise<{ readonly firstCallAt: number }> {
  for (;;) {
    const { firstCallAt } = await practice.seen();
    if (firstCallAt !== undefined) return { firstCallAt };
    await sleep(10);
  }
}

/** Processor seconds so far: of each worker, and of the Temporal server that listens on the fleet's port. */
function cpuOf({ workers, server }: Fleet): { readonly workers: readonly number[]; readonly server: number } {
  const all = listProcesses();
  const port = `--port ${server.address.split(':').at(-1)} `;
  const secondsOf = (pid: number) => all.find((process) => process.pid === pid)?.cpuSeconds ?? 0;
  const servers = all.filter(({ pid }) => commandLine(pid).includes(port));
  return {
    workers: workers.map(({ pid }) => secondsOf(pid)),
    server: servers.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
  };
}

function describe(played: readonly Played[]): string {
  return formatTable(
    [
      ...['way', 'workers', 'runs', 'wall s', 'runs a second', 'to one worker', 'CPU s of each worker'],
      ...['server CPU s', 'ms of CPU a run, workers', 'server', 'cores in use'],
    ],
    played.map((one) => {
      const alone = played.find(({ way, workers }) => way === one.way && workers === 1) ?? one;
      const workers = one.workerCpuSeconds.reduce((sum, seconds) => sum + seconds, 0);
      return [
        one.way,
        one.workers.toString(),
        one.runs.toString(),
        one.wallSeconds.toFixed(1),
        (one.runs / one.wallSeconds).toFixed(0),
        `${(alone.wallSeconds / one.wallSeconds).toFixed(2)} x`,
        one.workerCpuSeconds.map((seconds) => seconds.toFixed(1)).join(' + '),
        one.serverCpuSeconds.toFixed(1),
        ((workers / one.runs) * 1000).toFixed(1),
        ((one.serverCpuSeconds / one.runs) * 1000).toFixed(1),
        ((workers + one.serverCpuSeconds) / one.wallSeconds).toFixed(2),
      ];
    }),
  );
}
