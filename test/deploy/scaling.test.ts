import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { WorkflowHandle } from '@temporalio/client';
import type { SweepProgress } from '../../workflows/messages.ts';
import { endOf, type Fleet, people, startFleet } from '../fleet/fleet.ts';
import { aModel, aSpec } from '../sweep-builders.ts';
import { type HeldModel, startHeldModel } from './held-model.ts';

/** Conversations of the sweep, all open at once. */
const window = 40;
const slots = 4;
const callsOfConversation = 10;
const grace = ['--grace', '60s'];
const taskTypes = { workflow: 1, activity: 2 } as const;

let model: HeldModel;
let fleet: Fleet;
let sweep: WorkflowHandle;

before(async () => {
  model = await startHeldModel();
  fleet = await startFleet(0);
  const spec = aSpec(aModel(model.url), { concurrency: window });
  sweep = await fleet.start(await fleet.plan('waiting', spec, people(window)));
});

after(async () => {
  await fleet?.stop();
  await model?.close();
});

/** What KEDA's scaler asks, once a type of its `queueTypes`. */
async function backlog(type: keyof typeof taskTypes): Promise<number> {
  const { taskQueue } = await sweep.describe();
  const { stats } = await fleet.client.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: taskQueue },
    taskQueueType: taskTypes[type],
    reportStats: true,
  });
  return Number(stats?.approximateBacklogCount ?? 0);
}

/** Looks again until it is so; the test's own limit ends what never is. */
async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** The replicas that an HPA asks for: each trigger's value over its target, rounded up; the largest wins. */
const replicas = (...triggers: readonly (readonly [value: number, target: number])[]) =>
  Math.max(...triggers.map(([value, target]) => Math.ceil(value / target)));

// Each step begins where the one before it ended, as in a cluster.
describe('the figures that a fleet is scaled by', { timeout: 120_000 }, () => {
  it('show one waiting task of a sweep that nobody plays', async () => {
    await until(async () => (await backlog('workflow')) === 1);
    assert.equal(await backlog('activity'), 0);
  });

  it('show its preflight once the workflow workers are there, which starts the first pod', async () => {
    await fleet.addWorker(['--role', 'workflows']);
    await until(async () => (await backlog('activity')) === 1);
    assert.equal(replicas([1, slots]), 1);
  });

  it('show every conversation beyond the slots of the first pod', async () => {
    await fleet.addWorker(['--role', 'activities', '--slots', String(slots), ...grace]);
    await until(() => model.waiting() === slots);
    await until(async () => (await backlog('activity')) === window - slots);
    assert.equal(replicas([await backlog('activity'), slots]), 9);
    const { window: told } = await sweep.query<SweepProgress>('progress');
    assert.equal(replicas([await backlog('activity'), slots], [told, slots]), 10);
  });

  it('show no backlog while every conversation is played: only the window holds the pods', async () => {
    const slotsOfRest = String((window - slots) / 2);
    for (const _ of [1, 2]) await fleet.addWorker(['--role', 'activities', '--slots', slotsOfRest, ...grace]);
    await until(() => model.waiting() === window);
    await until(async () => (await backlog('activity')) === 0);
    const { window: told } = await sweep.query<SweepProgress>('progress');
    assert.equal(replicas([0, slots], [told, slots]), 10);
  });

  it('lose no call when a pod with calls in flight is asked to go: it ends them, and leaves with 0', async () => {
    const [, , leaving] = fleet.workers;
    leaving?.kill('SIGTERM');
    await until(() => leaving?.log().some((line) => line.includes('draining')) ?? true);
    assert.equal(model.waiting(), window);
    model.release();
    assert.equal(await leaving?.gone, 0);
    const end = await endOf(fleet, 'waiting');
    assert.deepEqual(end.tally.outcomes, { passed: window });
    assert.equal(model.practice.stats().calls, window * callsOfConversation);
  });

  it('show an empty queue when the sweep has ended', async () => {
    await until(async () => (await backlog('workflow')) + (await backlog('activity')) === 0);
  });
});
