import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readSweep } from '../../cli/sweep/read-sweep.ts';
import type { SweepSpec, TargetSpec } from '../../domain/sweep-spec.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { aShell } from '../cli/test-shell.ts';
import { aModel, aScenario } from '../sweep-builders.ts';
import { resultsOf, startTestFleet, type TestFleet, wordsOf } from '../test-fleet.ts';
import { lackOfPython, pythonWith } from './python.ts';

const example = fileURLToPath(new URL('../../examples/python-target/', import.meta.url));
const skip = lackOfPython();

let fleet: TestFleet;
let practice: PracticeModel;
let python: string;

/** The example's worker, when it serves. */
async function startDesk(thinkSeconds = 0) {
  const desk = spawn(python, [`${example}worker.py`], {
    env: { ...process.env, TEMPORAL_ADDRESS: fleet.server.address, THINK_SECONDS: String(thinkSeconds) },
    // It tells of sessions that it lost.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const killed = once(desk, 'exit');
  await once(createInterface(desk.stdout), 'line');
  return {
    async kill(signal: NodeJS.Signals) {
      desk.kill(signal);
      await killed;
    },
  };
}

/** The example's sweep, with so many conversations. */
async function exampleSweep(count: number, more: Partial<TargetSpec> = {}, callMs = 120_000) {
  const shell = aShell({ args: [], cwd: process.cwd() });
  const { spec } = await readSweep(shell, `${example}sweep.yaml`, {});
  const targets = spec.targets.map((target) => ({ ...target, ...more }) as TargetSpec);
  const changed: SweepSpec = {
    ...spec,
    targets,
    models: { practice: aModel(practice.url) },
    timeouts: { ...spec.timeouts, callMs },
    env: [],
    repeats: 1,
    thresholds: [],
  };
  const people = Array.from({ length: count }, (_, index) =>
    aScenario(`p${index}`, { input: { ticket: `T-${100 + index}`, mood: 'calm' } }),
  );
  return { spec: changed, people };
}

describe('a target in Python', { skip: skip ?? false, timeout: 300_000 }, () => {
  before(async () => {
    python = pythonWith(`${example}requirements.txt`);
    fleet = await startTestFleet();
    practice = await startPracticeModel({ latencyMs: 10 });
  });

  after(async () => {
    await practice?.close();
    await fleet?.stop();
  });

  it('plays the example from end to end', async () => {
    const desk = await startDesk();
    const { spec, people } = await exampleSweep(4);
    const sweep = await fleet.start('whole', spec, people);
    const end = await sweep.end();
    await desk.kill('SIGKILL');
    assert.deepEqual(end.tally.outcomes, { passed: 4 });
    const words = await wordsOf(fleet.store, 'whole/p1/1');
    assert.ok(words.includes('target: Ticket T-101 is solved: your account is unlocked.'), words.join('\n'));
  });

  for (const idempotent of [true, false]) {
    const title = idempotent ? 'idempotent' : 'not idempotent';
    it(`that is killed in the middle and started again loses no run (${title})`, async () => {
      const first = await startDesk(0.3);
      const id = `killed-${idempotent}`;
      const { spec, people } = await exampleSweep(12, { idempotent, retries: 5 }, 3_000);
      const sweep = await fleet.start(id, spec, people);
      const before = practice.stats().calls;
      while (practice.stats().calls < before + 2 * people.length)
        await new Promise((resolve) => setTimeout(resolve, 20));
      await first.kill('SIGKILL');
      const second = await startDesk();
      const end = await sweep.end();
      await second.kill('SIGKILL');
      assert.deepEqual(end.tally.outcomes, { passed: 12 });
      const results = await resultsOf(fleet.store, sweep.record);
      assert.equal(new Set(results.map(({ run }) => run)).size, 12);
    });
  }

  it('that is stopped in order hands its calls to the next one', async () => {
    const first = await startDesk(0.3);
    const { spec, people } = await exampleSweep(6, { retries: 5 }, 5_000);
    const sweep = await fleet.start('stopped', spec, people);
    const before = practice.stats().calls;
    while (practice.stats().calls < before + people.length)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await first.kill('SIGINT');
    const second = await startDesk();
    const end = await sweep.end();
    await second.kill('SIGKILL');
    assert.deepEqual(end.tally.outcomes, { passed: 6 });
  });
});
