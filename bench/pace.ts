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

type Scene = {
  readonly workers: number;
  /** How many of which a minute: `rpm` or `tpm`. */
  readonly limit: 'rpm' | 'tpm';
  readonly asked: number;
  readonly kills?: boolean;
};

type Noted = { readonly at: number; readonly amount: number };

type Paced = Scene & {
  /** Calls or tokens as the model saw them, in minutes that follow each other. */
  readonly minutes: readonly number[];
  /** The most in any minute of the whole time, whenever it begins. */
  readonly most: number;
  readonly updatesAMinute: number;
  readonly eventsAnHour: number;
};

const scenes: readonly Scene[] = [
  { workers: 1, limit: 'rpm', asked: 600 },
  { workers: 2, limit: 'rpm', asked: 600 },
  { workers: 4, limit: 'rpm', asked: 600, kills: true },
  { workers: 4, limit: 'rpm', asked: 60 },
  { workers: 4, limit: 'rpm', asked: 3000 },
  { workers: 4, limit: 'tpm', asked: 60_000 },
];

/** How precisely worker processes keep one pace together, and what that costs Temporal. */
export async function measurePace({ isQuick }: { readonly isQuick: boolean }): Promise<string> {
  const paced: Paced[] = [];
  for (const scene of isQuick ? scenes.slice(1, 2) : scenes)
    paced.push(await playScene(scene, isQuick ? 1 : 2));
  return describe(paced);
}

async function playScene(scene: Scene, minuteCount: number): Promise<Paced> {
  const noted: Noted[] = [];
  const note = (amount: number) => noted.push({ at: performance.now(), amount });
  const practice = await startPracticeModel({
    latencyMs,
    ...(scene.limit === 'rpm' ? { onCall: () => note(1) } : { onAnswer: note }),
  });
  const fleet = await startFleet(0);
  try {
    const workers = Array.from({ length: scene.workers }, () =>
      fleet.addWorker(['--slots', String(slotsEach)]),
    );
    await Promise.all(workers);
    await startSweep(fleet, practice.url, scene);
    while (noted.length === 0) await sleep(20);
    await sleep(warmUpMs);
    const minutes: number[] = [];
    for (let minute = 0; minute < minuteCount + (scene.kills ? 2 : 0); minute += 1) {
      if (scene.kills && minute === minuteCount) fleet.workers[0]?.kill('SIGKILL');
      const before = noted.length;
      await sleep(minuteMs);
      minutes.push(sumOf(noted.slice(before)));
    }
    const passed = (performance.now() - (noted[0]?.at ?? 0)) / minuteMs;
    const { updates, events } = await countPaceEvents(fleet);
    return {
      ...{ ...scene, minutes, most: mostInAMinute(noted) },
      ...{ updatesAMinute: updates / passed, eventsAnHour: (events / passed) * 60 },
    };
  } finally {
    await fleet.stop();
    await practice.close();
  }
}

async function startSweep(fleet: Fleet, url: string, { workers, limit, asked }: Scene): Promise<void> {
  const spec = aSpec(aModel(url, { [limit]: asked }), {
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

function sumOf(noted: readonly Noted[]): number {
  return noted.reduce((sum, { amount }) => sum + amount, 0);
}

function mostInAMinute(noted: readonly Noted[]): number {
  let most = 0;
  let first = 0;
  let sum = 0;
  for (const { at, amount } of noted) {
    sum += amount;
    for (; at - (noted[first]?.at ?? at) >= minuteMs; first += 1) sum -= noted[first]?.amount ?? 0;
    most = Math.max(most, sum);
  }
  return most;
}

function describe(paced: readonly Paced[]): string {
  const table = formatTable(
    [
      'workers',
      'asked',
      'in each minute',
      'most in any minute',
      'updates a minute',
      'history events an hour',
    ],
    paced.map(({ workers, kills, limit, asked, minutes, most, updatesAMinute, eventsAnHour }) => [
      kills ? `${workers}, one killed before the last two minutes` : `${workers}`,
      `${limit} ${asked}`,
      minutes.join(', '),
      `${most}`,
      updatesAMinute.toFixed(0),
      eventsAnHour.toFixed(0),
    ]),
  );
  // Tokens are known when the answer is there: a minute may see some more of them.
  const counted = paced.filter(({ limit }) => limit === 'rpm');
  const over = Math.max(...counted.map(({ most, asked }) => most / asked));
  const steady = Math.min(
    ...paced.flatMap(({ minutes, asked, kills }) =>
      minutes.filter((_, index) => !kills || index !== minutes.length - 2).map((amount) => amount / asked),
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
