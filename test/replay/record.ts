import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SweepSpec } from '../../domain/sweep-spec.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { aModel, aScenario, aSpec } from '../sweep-builders.ts';
import { type Started, startTestFleet, type TestFleet } from '../test-fleet.ts';
import {
  historyToJson,
  oneEventALine,
  type RecordedHistory,
  recordingsFolder,
  withoutPlaces,
} from './recorded.ts';

// node test/replay/record.ts: plays small sweeps on a real server and writes down what their workflows did.
// Run it when a workflow's commands have changed on purpose, and say so in the change.

/** Run histories kept of each sweep: they differ little. */
const runsKept = 2;
/** A worker hears that it should stop with its heartbeats: at the latest after so long. */
const heardAfterMs = 6_500;
const longTalk = { first: 'driver', maxTurns: 150 } as const;
const people = Array.from({ length: 6 }, (_, index) =>
  aScenario(`p${index}`, { input: { order: 100 + index } }),
);

type Place = { readonly fleet: TestFleet; readonly practice: PracticeModel; readonly spec: SweepSpec };
type Story = (place: Place, id: string, inline: boolean) => Promise<Started>;

const stories: Readonly<Record<string, Story>> = {
  whole: ({ fleet, spec }, id, inline) => fleet.start(id, spec, people, { inline, shardSize: 3 }),

  stretches: ({ fleet, spec }, id, inline) =>
    fleet.start(id, { ...spec, timeouts: { ...spec.timeouts, stretchMs: 150 } }, people.slice(0, 2), {
      inline,
    }),

  async paused({ fleet, spec, practice }, id, inline) {
    const sweep = await fleet.start(id, { ...spec, conversation: longTalk }, people, { inline });
    await plays(practice);
    await sweep.handle.executeUpdate('pause');
    await new Promise((resolve) => setTimeout(resolve, heardAfterMs));
    await sweep.handle.executeUpdate('retune', { args: [{ concurrency: 3 }] });
    await sweep.handle.executeUpdate('continue');
    return sweep;
  },

  budget: ({ fleet, spec, practice }, id, inline) => {
    const models = { practice: aModel(practice.url, { price: { input: 100, output: 100 } }) };
    return fleet.start(id, { ...spec, models, concurrency: 2 }, people, {
      inline,
      budgetUsd: 0.15,
      estimateUsd: 0.06,
    });
  },

  async cancelled({ fleet, spec, practice }, id, inline) {
    const sweep = await fleet.start(id, { ...spec, concurrency: 2, conversation: longTalk }, people, {
      inline,
    });
    await plays(practice);
    await sweep.handle.cancel();
    return sweep;
  },

  async drained({ fleet, spec, practice }, id, inline) {
    const sweep = await fleet.start(id, spec, people, { inline });
    await plays(practice);
    await fleet.drain();
    await fleet.startWorker();
    return sweep;
  },
};

/** Resolves when conversations are under way. */
async function plays(practice: PracticeModel): Promise<void> {
  while (practice.stats().calls < 10) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function historiesOf({ client }: TestFleet, sweep: string): Promise<readonly RecordedHistory[]> {
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list())
    if (workflowId.startsWith(sweep)) ids.push(workflowId);
  const runs = ids.filter((id) => id.startsWith(`${sweep}/`)).sort();
  const others = ids.filter((id) => !runs.includes(id)).sort();
  return Promise.all(
    [...others, ...runs.slice(0, runsKept)].map(async (workflowId) => {
      const history = historyToJson(await client.workflow.getHandle(workflowId).fetchHistory());
      return { workflowId, history: JSON.parse(withoutPlaces(JSON.stringify(history))) };
    }),
  );
}

const fleet = await startTestFleet();
const practice = await startPracticeModel({ latencyMs: 30 });
await mkdir(recordingsFolder, { recursive: true });
try {
  for (const [story, play] of Object.entries(stories)) {
    for (const inline of [false, true]) {
      practice.reset();
      const id = `${story}-${inline ? 'inline' : 'apart'}`;
      const sweep = await play({ fleet, practice, spec: aSpec(aModel(practice.url)) }, id, inline);
      const end = await sweep.end();
      const histories = await historiesOf(fleet, id);
      await writeFile(join(recordingsFolder, `${id}.json`), oneEventALine(histories));
      process.stdout.write(`${id}: ${histories.length} histories, ${JSON.stringify(end)}\n`);
    }
  }
} finally {
  await fleet.stop();
  await practice.close();
}
