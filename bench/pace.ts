import { setTimeout as sleep } from 'node:timers/promises';
import { startPracticeModel } from '../practice/server.ts';
import { type Fleet, people, startFleet } from '../test/fleet/fleet.ts';
import { aChatTarget, aModel, aSpec } from '../test/sweep-builders.ts';
import { formatReaches, formatTable } from './table.ts';

/** So many conversations a worker, and no room for more: all of them have their part. */
const slotsEach = 20;
const latencyMs = 500;
const warmUpMs = 15_000;
const minuteMs = 60_000;

type Scene = { readonly workers: number; readonly rpm: number; readonly kills?: boolean };

type Paced = Scene & {
  /** Calls as the model saw them, in minutes that follow each other. */
  readonly minutes: readonly number[];
  /** The most in any minute of the whole time, whenever it begins. */
  readonly most: number;
  readonly updatesAMinute: number;
  readonly eventsAnHour: number;
};

const scenes: readonly Scene[] = [
  { workers: 1, rpm: 600 },
  { workers: 2, rpm: 600 },
  { workers: 4, rpm: 600, kills: true },
  { workers: 4, rpm: 60 },
  { workers: 4, rpm: 3000 },
];

/** How precisely worker processes keep one pace together, and what that costs Temporal. */
export async function measurePace({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const paced: Paced[] = [];
  for (const scene of isQuick ? scenes.slice(1, 2) : scenes)
    paced.push(await playScene(scene, isQuick ? 1 : 2));
  return describe(paced);
}

async function playScene(scene: Scene, minuteCount: number): Promise<Paced> {
  const at: number[] = [];
  const practice = await startPracticeModel({ latencyMs, onCall: () => at.push(performance.now()) });
  const fleet = await startFleet(0);
  try {
    const workers = Array.from({ length: scene.workers }, () =>
      fleet.addWorker(['--slots', String(slotsEach)]),
    );
    await Promise.all(workers);
    await startSweep(fleet, practice.url, scene);
    while (at.length === 0) await sleep(20);
    await sleep(warmUpMs);
    const minutes: number[] = [];
    for (let minute = 0; minute < minuteCount + (scene.kills ? 2 : 0); minute += 1) {
      if (scene.kills && minute === minuteCount) fleet.workers[0]?.kill('SIGKILL');
      const before = at.length;
      await sleep(minuteMs);
      minutes.push(at.length - before);
    }
    const passed = (performance.now() - (at[0] ?? 0)) / minuteMs;
    const { updates, events } = await countPaceEvents(fleet);
    return {
      ...{ ...scene, minutes, most: mostInAMinute(at) },
      ...{ updatesAMinute: updates / passed, eventsAnHour: (events / passed) * 60 },
    };
  } finally {
    await fleet.stop();
    await practice.close();
  }
}

async function startSweep(fleet: Fleet, url: string, { workers, rpm }: Scene): Promise<void> {
  const spec = aSpec(aModel(url, { rpm }), {
    concurrency: workers * slotsEach,
    targets: [aChatTarget({ system: 'You are the desk for order {input.order}.' })],
  });
  await fleet.start(await fleet.plan('paced', spec, people(2_000), 500), { inline: true });
}

/** Of all workflows that shared out a pace on the fleet's server, one after the other. */
async function countPaceEvents({
  client,
}: Fleet): Promise<{ readonly updates: number; readonly events: number }> {
  let updates = 0;
  let events = 0;
  for await (const { workflowId, runId } of client.workflow.list({
    query: 'WorkflowType = "paceWorkflow"',
  })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    events += history.events?.length ?? 0;
    updates +=
      history.events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length ?? 0;
  }
  return { updates, events };
}

function mostInAMinute(at: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (const [index, time] of at.entries()) {
    while (time - (at[first] ?? time) >= minuteMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

function describe(paced: readonly Paced[]): string {
  const table = formatTable(
    [
      'workers',
      'rpm asked',
      'calls in each minute',
      'most in any minute',
      'updates a minute',
      'history events an hour',
    ],
    paced.map(({ workers, kills, rpm, minutes, most, updatesAMinute, eventsAnHour }) => [
      kills ? `${workers}, one killed before the last two minutes` : `${workers}`,
      `${rpm}`,
      minutes.join(', '),
      `${most}`,
      updatesAMinute.toFixed(0),
      eventsAnHour.toFixed(0),
    ]),
  );
  const over = Math.max(...paced.map(({ most, rpm }) => most / rpm));
  const steady = Math.min(
    ...paced.flatMap(({ minutes, rpm, kills }) =>
      minutes.filter((_, index) => !kills || index !== minutes.length - 2).map((calls) => calls / rpm),
    ),
  );
  return `${table}\n${formatReaches([
    { what: 'most calls in any minute', limit: '+0 %', value: percent(over), reached: over <= 1 },
    {
      what: 'fewest in a minute, that of a kill aside',
      limit: '-10 %',
      value: percent(steady),
      reached: steady >= 0.9,
    },
  ])}`;
}

function percent(share: number): string {
  return `${((share - 1) * 100).toFixed(1)} %`;
}
