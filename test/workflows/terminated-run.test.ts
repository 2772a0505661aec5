import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { sweepReport } from '../../activities/report.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { aModel, aScenario, aSpec } from '../sweep-builders.ts';
import { resultsOf, startTestFleet, type TestFleet, wordsOf } from '../test-fleet.ts';

let fleet: TestFleet;
let practice: PracticeModel;

before(async () => {
  fleet = await startTestFleet();
  practice = await startPracticeModel({ latencyMs: 100 });
});

after(async () => {
  await fleet?.stop();
  await practice?.close();
});

it('a run whose workflow is terminated is broken, keeps what was played, and is played again by a retry', async () => {
  const spec = aSpec(aModel(practice.url), { conversation: { first: 'driver', maxTurns: 20 } });
  const sweep = await fleet.start('terminated', spec, [aScenario('lost'), aScenario('kept')], {
    inline: false,
  });
  const run = 'terminated/lost/1';
  while ((await wordsOf(fleet.store, run)).length < 4) await new Promise((done) => setTimeout(done, 50));
  await fleet.client.workflow.getHandle(run).terminate('by hand');
  const end = await sweep.end();
  assert.deepEqual(end.tally.outcomes, { broken: 1, passed: 1 });
  assert.deepEqual(end.tally.faults, { bug: 1 });

  const lost = (await resultsOf(fleet.store, sweep.record)).find((result) => result.run === run);
  assert.deepEqual([lost?.outcome, lost?.blame, lost?.fault?.code], ['broken', 'infrastructure', 'bug']);
  assert.match(lost?.fault?.message ?? '', /ended from outside/);
  assert.ok((lost?.turns ?? 0) >= 2, 'what was played is counted');
  assert.ok((lost?.usage.driver.calls ?? 0) >= 2, 'what it cost is counted');
  const report = await sweepReport(fleet.store, { sweep: 'terminated', probeCalls: 0, cancelled: false });
  assert.deepEqual([report.runs.broken, report.runs.passed, report.runs.unplayed], [1, 1, 0]);

  const again = await fleet.startAgain(sweep.record, { inline: false, retry: true });
  assert.deepEqual((await again.end()).tally.outcomes, { passed: 2 });
  const replayed = (await resultsOf(fleet.store, sweep.record)).find((result) => result.run === run);
  assert.deepEqual([replayed?.outcome, replayed?.generation, replayed?.turns], ['passed', 2, 20]);
});
