import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import type { SweepEnd } from '../../workflows/messages.ts';
import { aChatTarget, aModel, aSpec } from '../sweep-builders.ts';
import { resultsOf, wordsOf } from '../test-fleet.ts';
import { ended, endOf, type Fleet, people, startFleet, until } from './fleet.ts';

const conversations = 200;
const callsEach = 10;
/** The window: no more conversations are open at once. */
const open = 50;
/** The practice model tells conversations apart by their prompt, so each side is one for it. */
const callsOfASide = 5;

let practice: PracticeModel;
let fleet: Fleet;
/** What an undisturbed sweep says, by scenario. */
const undisturbed = new Map<string, readonly string[]>();

const spec = () =>
  aSpec(aModel(practice.url), {
    concurrency: open,
    driver: { ...driver(), prompt: 'You are customer {input.order}.' },
    targets: [aChatTarget({ system: 'You are the desk for order {input.order}.' })],
  });
const driver = () => ({
  kind: 'model' as const,
  model: 'practice',
  prompt: '',
  temperature: 0.6,
  temperatureGiven: false,
  managed: false,
});

before(async () => {
  practice = await startPracticeModel({ latencyMs: 100 });
  fleet = await startFleet(2);
  const record = await fleet.plan('calm', spec(), people(conversations));
  await fleet.start(record, { inline: true });
  await endOf(fleet, 'calm');
  for (const { id } of people(conversations)) undisturbed.set(id, await wordsOf(fleet.store, `calm/${id}/1`));
});

after(async () => {
  await fleet?.stop();
  await practice?.close();
});

/** Every run ended once, and said what it would have said undisturbed. */
async function assertWhole(sweep: string, end: SweepEnd): Promise<void> {
  assert.deepEqual(end.tally.outcomes, { passed: conversations });
  const record = await fleet.store.readSweep(sweep);
  assert.ok(record !== undefined);
  const results = await resultsOf(fleet.store, record);
  assert.equal(new Set(results.map((result) => result.run)).size, conversations);
  for (const [id, words] of undisturbed)
    assert.deepEqual(await wordsOf(fleet.store, `${sweep}/${id}/1`), words);
}

for (const inline of [false, true]) {
  const name = inline ? 'inline' : 'a workflow each';
  const sweep = `killed-${inline ? 'inline' : 'apart'}`;

  describe(`a fleet of two workers (${name})`, () => {
    it('ends every run once when a worker is killed three times, repeating at most one call in flight each time', async () => {
      practice.reset();
      const record = await fleet.plan(sweep, spec(), people(conversations));
      const handle = await fleet.start(record, { inline });
      for (const share of [0.1, 0.35, 0.6]) {
        await until(handle, (progress) => ended(progress) >= conversations * share);
        const victim = fleet.workers.shift();
        victim?.kill('SIGKILL');
        await victim?.gone;
        await fleet.addWorker();
      }
      await assertWhole(sweep, await endOf(fleet, sweep));
      const { calls, conversations: perConversation } = practice.stats();
      const repeated = calls - conversations * callsEach;
      assert.ok(repeated <= 3 * open, `${repeated} calls repeated in three kills`);
      assert.ok(
        perConversation.max_calls <= callsOfASide + 3,
        `${perConversation.max_calls} calls in one conversation`,
      );
    });
  });
}

describe('a fleet of two workers', () => {
  it('stays right when a worker is frozen for thirty seconds and wakes up again', async () => {
    practice.reset();
    const record = await fleet.plan('frozen', spec(), people(conversations));
    const handle = await fleet.start(record);
    await until(handle, (progress) => ended(progress) >= 20);
    const [victim] = fleet.workers;
    victim?.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    victim?.kill('SIGCONT');
    await assertWhole('frozen', await endOf(fleet, 'frozen'));
    assert.ok(practice.stats().conversations.max_calls <= callsOfASide + 2);
  });

  it('repeats no call when the Temporal server is killed and comes back', async () => {
    practice.reset();
    const record = await fleet.plan('serverless', spec(), people(conversations));
    const handle = await fleet.start(record);
    await until(handle, (progress) => ended(progress) >= 20);
    await fleet.server.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 8_000));
    await fleet.server.restart();
    await assertWhole('serverless', await endOf(fleet, 'serverless'));
    assert.equal(practice.stats().calls, conversations * callsEach);
  });

  it('goes on from the store alone when server and workers are all gone', async () => {
    practice.reset();
    const record = await fleet.plan('bereft', spec(), people(conversations));
    const handle = await fleet.start(record);
    await until(handle, (progress) => ended(progress) >= 60);
    for (const worker of fleet.workers.splice(0)) {
      worker.kill('SIGKILL');
      await worker.gone;
    }
    await fleet.replaceServer();
    await fleet.addWorker();
    await fleet.addWorker();
    await fleet.start(record);
    await assertWhole('bereft', await endOf(fleet, 'bereft'));
    assert.ok(practice.stats().calls - conversations * callsEach <= open);
    assert.ok(practice.stats().conversations.max_calls <= callsOfASide + 1);
  });
});
