import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PracticeModel } from '../../practice/server.ts';
import { startPracticeModel } from '../../practice/server.ts';
import type { SweepProgress } from '../../workflows/messages.ts';
import { aJudgeCheck, aModel, aScenario, aSpec } from '../sweep-builders.ts';
import { resultsOf, startTestFleet, type TestFleet, wordsOf } from '../test-fleet.ts';

let fleet: TestFleet;
let practice: PracticeModel;

before(async () => {
  fleet = await startTestFleet();
  practice = await startPracticeModel({ latencyMs: 20 });
});

after(async () => {
  await fleet?.stop();
  await practice?.close();
});

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => aScenario(`p${index}`, { input: { order: 100 + index } }));

/** Waits until a live sweep stands so. */
async function until(
  query: () => Promise<SweepProgress>,
  stands: (progress: SweepProgress) => boolean,
): Promise<SweepProgress> {
  for (;;) {
    const progress = await query();
    if (stands(progress)) return progress;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a sweep', () => {
  it('plays every run once, with ten calls for five turns', async () => {
    practice.reset();
    const sweep = await fleet.start('whole', aSpec(aModel(practice.url)), people(30));
    const end = await sweep.end();
    assert.equal(end.gate, 'open');
    assert.deepEqual(end.tally.outcomes, { passed: 30 });
    assert.equal(practice.stats().calls, 300);
    const results = await resultsOf(fleet.store, sweep.record);
    assert.equal(new Set(results.map((result) => result.run)).size, 30);
    assert.ok(results.every((result) => result.turns === 5 && result.ending?.kind === 'max_turns'));
  });

  it('says the same words inline and in a workflow each', async () => {
    const spec = aSpec(aModel(practice.url));
    const apart = await fleet.start('apart', spec, people(8), { inline: false });
    const inline = await fleet.start('inline', spec, people(8), { inline: true });
    await Promise.all([apart.end(), inline.end()]);
    for (const { id } of people(8)) {
      const words = await wordsOf(fleet.store, `apart/${id}/1`);
      assert.equal(words.length, 10);
      assert.deepEqual(await wordsOf(fleet.store, `inline/${id}/1`), words);
    }
  });

  it('makes no call while it is paused, and goes on at the next message', async () => {
    const slow = await startPracticeModel({ latencyMs: 150 });
    const spec = aSpec(aModel(slow.url), { concurrency: 5, conversation: { first: 'driver', maxTurns: 30 } });
    const sweeps = [
      await fleet.start('pause-apart', spec, people(8), { inline: false }),
      await fleet.start('pause-inline', spec, people(8), { inline: true }),
    ];
    await Promise.all(
      sweeps.map(({ handle }) =>
        until(
          () => handle.query<SweepProgress>('progress'),
          () => slow.stats().calls > 50,
        ),
      ),
    );
    await Promise.all(sweeps.map(({ handle }) => handle.executeUpdate('pause')));
    await quietOf(slow);
    const { calls } = slow.stats();
    assert.ok(calls < 16 * 60, 'the pause came before the end');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(slow.stats().calls, calls);
    await Promise.all(sweeps.map(({ handle }) => handle.executeUpdate('continue')));
    for (const sweep of sweeps)
      assert.deepEqual((await sweep.end()).tally, {
        ...(await sweep.end()).tally,
        outcomes: { passed: 8 },
        wasted: 0,
      });
    assert.equal(slow.stats().calls, 16 * 60);
    await slow.close();
  });

  for (const inline of [false, true]) {
    const name = inline ? 'inline' : 'in a workflow each';

    it(`gives every run an outcome when it is cancelled (${name})`, async () => {
      const sweep = await fleet.start(
        `cancel-${inline}`,
        aSpec(aModel(practice.url), { concurrency: 10 }),
        people(60),
        { inline },
      );
      const query = () => sweep.handle.query<SweepProgress>('progress');
      await until(query, (progress) => (progress.tally.outcomes.passed ?? 0) >= 10);
      await sweep.handle.cancel();
      const end = await sweep.end();
      assert.equal(end.cancelled, true);
      const report = await fleet.store.readReport(sweep.record.id);
      assert.ok(typeof report === 'object' && report !== null && 'runs' in report);
      const runs = report.runs as Record<string, number>;
      assert.equal(runs.planned, 60);
      assert.equal((runs.passed ?? 0) + (runs.cancelled ?? 0) + (runs.unplayed ?? 0), 60);
      assert.ok((runs.unplayed ?? 0) > 0);
    });

    it(`stops at its budget, and goes on with more (${name})`, async () => {
      const model = aModel(practice.url, { price: { input: 100, output: 100 } });
      const sweep = await fleet.start(`budget-${inline}`, aSpec(model, { concurrency: 5 }), people(40), {
        inline,
        budgetUsd: 0.6,
        estimateUsd: 0.06,
      });
      const end = await sweep.end();
      assert.equal(end.halt?.reason, 'budget');
      assert.ok(end.tally.usd <= 0.6, `spent ${end.tally.usd}`);
      assert.ok((end.tally.outcomes.passed ?? 0) > 2, JSON.stringify(end.tally));
      const again = await fleet.startAgain(sweep.record, { inline, budgetUsd: 100, estimateUsd: 0.06 });
      assert.deepEqual((await again.end()).tally.outcomes, { passed: 40 });
      assert.equal((await resultsOf(fleet.store, sweep.record)).length, 40);
    });
  }

  it('halts after twenty runs that the same configuration broke', async () => {
    const strict = await startPracticeModel({ latencyMs: 5, apiKey: 'right' });
    const sweep = await fleet.start('denied', aSpec(aModel(strict.url), { concurrency: 4 }), people(100));
    const end = await sweep.end();
    assert.equal(end.halt?.reason, 'configuration');
    assert.match(end.halt?.detail ?? '', /practice/);
    assert.deepEqual(end.tally.outcomes, {});
    await strict.close();
  });

  it('plays broken runs again in their next generation', async () => {
    const model = await startPracticeModel({ latencyMs: 5, faults: { rate500: 1, afterCalls: 40 } });
    const spec = aSpec(aModel(model.url), {
      concurrency: 5,
      timeouts: { callMs: 5_000, runMs: 60_000, giveUpMs: 1_500, sweepMs: 60_000, stretchMs: 60_000 },
    });
    const sweep = await fleet.start('again', spec, people(10));
    const first = await sweep.end();
    assert.ok((first.tally.outcomes.broken ?? 0) > 0, JSON.stringify(first.tally));
    assert.equal(first.tally.faults.unavailable, first.tally.outcomes.broken);
    await model.close();
    const healthy = await startPracticeModel({ latencyMs: 5, port: model.port });
    const again = await fleet.startAgain(sweep.record, { retry: true });
    assert.deepEqual((await again.end()).tally.outcomes, { passed: 10 });
    const results = await resultsOf(fleet.store, sweep.record);
    assert.ok(results.some((result) => result.generation === 2));
    await healthy.close();
  });

  it('asks undecided checks again and plays nothing (rejudge)', async () => {
    const judge = await startPracticeModel({ latencyMs: 5, faults: { denied: 1, roles: ['judge'] } });
    const model = aModel(judge.url);
    const spec = aSpec(model, { checks: [aJudgeCheck()], conversation: { first: 'driver', maxTurns: 2 } });
    const sweep = await fleet.start('rejudged', spec, people(6));
    assert.deepEqual((await sweep.end()).tally.outcomes, { undecided: 6 });
    const before = await wordsOf(fleet.store, 'rejudged/p0/1');
    await judge.close();
    const healthy = await startPracticeModel({ latencyMs: 5, port: judge.port });
    const again = await fleet.startAgain(sweep.record, { rejudge: true });
    const { tally } = await again.end();
    assert.equal(tally.outcomes.undecided, undefined);
    assert.equal((tally.outcomes.passed ?? 0) + (tally.outcomes.failed ?? 0), 6);
    assert.deepEqual(healthy.stats().by_role, { driver: 0, target: 0, judge: 6 });
    assert.deepEqual(await wordsOf(fleet.store, 'rejudged/p0/1'), before);
    const results = await resultsOf(fleet.store, sweep.record);
    assert.ok(
      results.every(
        (result) =>
          result.generation === 2 && result.usage.driver.wastedCalls === 0 && result.resumptions === 0,
      ),
    );
    await healthy.close();
  });

  it('loses nothing when its worker drains and another one comes', async () => {
    practice.reset();
    const sweep = await fleet.start('drained', aSpec(aModel(practice.url), { concurrency: 10 }), people(30));
    const query = () => sweep.handle.query<SweepProgress>('progress');
    await until(query, (progress) => progress.open > 0 || (progress.tally.outcomes.passed ?? 0) > 0);
    await fleet.drain();
    await fleet.startWorker();
    const end = await sweep.end();
    assert.deepEqual(end.tally.outcomes, { passed: 30 });
    assert.equal(practice.stats().calls, 300);
  });
});

/** Waits until no call is in flight. */
async function quietOf(model: PracticeModel): Promise<void> {
  for (let quiet = 0; quiet < 20; ) {
    quiet = model.stats().in_flight === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
