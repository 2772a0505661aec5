import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { TargetAsk } from '../../activities/queue-turn.ts';
import type { Json } from '../../domain/json.ts';
import type { SweepSpec, TargetSpec } from '../../domain/sweep-spec.ts';
import { targetTurnInputSchema } from '../../formats/target-turn.ts';
import { aModel, aScenario, aSpec } from '../sweep-builders.ts';
import { resultsOf, startTestFleet, type TestFleet, wordsOf } from '../test-fleet.ts';

let fleet: TestFleet;
before(async () => {
  fleet = await startTestFleet();
});
after(() => fleet?.stop());

const people = (count: number) => Array.from({ length: count }, (_, index) => aScenario(`p${index}`));

/** A sweep of three turns against a target on a queue; drivers say what is written. */
function aQueueSpec(
  queue: string,
  fields: Partial<SweepSpec> = {},
  more: Partial<TargetSpec> = {},
): SweepSpec {
  const target = {
    kind: 'queue',
    queue,
    retries: 2,
    idempotent: false,
    onUnsureTurn: 'restart',
    onLostSession: 'restart',
    targetFaults: 'failed',
    ...more,
  } as TargetSpec;
  const steps = ['one', 'two', 'three'].map((text) => ({ kind: 'say', text }) as const);
  return aSpec(aModel('http://127.0.0.1:1/v1'), {
    targets: [target],
    driver: { kind: 'script', steps },
    ...fields,
  });
}

/** A worker of the target, as another program would run it. */
async function serve(queue: string, turn: (ask: TargetAsk) => Promise<Json> | Json) {
  const connection = await NativeConnection.connect({ address: fleet.server.address });
  const asked: TargetAsk[] = [];
  const worker = await Worker.create({
    connection,
    taskQueue: `target.${queue}`,
    activities: {
      target_turn: async (ask: TargetAsk) => {
        asked.push(ask);
        return turn(ask);
      },
    },
  });
  const done = worker.run();
  return {
    asked,
    async stop() {
      worker.shutdown();
      await done;
      await connection.close();
    },
  };
}

/** Resolves when a run's turn lies on the queue of its target. */
async function waitsForTarget(run: string): Promise<void> {
  for (;;) {
    const found = await fleet.client.workflow
      .getHandle(run)
      .describe()
      .catch(() => undefined);
    const pending = found?.raw.pendingActivities ?? [];
    if (pending.some(({ activityType }) => activityType?.name === 'target_turn')) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a target on a queue', { timeout: 90_000 }, () => {
  it('is asked what the contract says, and its session is sent from then on', async () => {
    const desk = await serve('contract', ({ latest_message, session_id }) => ({
      text: `heard ${latest_message}`,
      session_id: session_id ?? 's1',
      tool_calls: [{ function: { name: 'note', arguments: '{"a":1}' } }],
    }));
    const sweep = await fleet.start('contract', aQueueSpec('contract'), people(1));
    assert.deepEqual((await sweep.end()).tally.outcomes, { passed: 1 });
    await desk.stop();
    for (const ask of desk.asked) targetTurnInputSchema.parse(ask);
    assert.deepEqual(desk.asked, [
      {
        run_id: 'contract/p0/1',
        idempotency_key: 'contract/p0/1/1/1',
        session_id: null,
        input: { order: 4471 },
        latest_message: 'one',
        messages: [{ role: 'user', content: 'one' }],
      },
      ...['two', 'three'].map((latest_message, index) => ({
        run_id: 'contract/p0/1',
        idempotency_key: `contract/p0/1/1/${3 + 2 * index}`,
        session_id: 's1',
        input: { order: 4471 },
        latest_message,
      })),
    ]);
    const { events } = await fleet.store.readJournal('contract/p0/1');
    const reply = events.findLast((event) => event.kind === 'message');
    assert.deepEqual(reply?.kind === 'message' && reply.tool_calls, [{ name: 'note', args: { a: 1 } }]);
  });

  it('without sessions is sent the whole conversation, and may speak first and hang up', async () => {
    const desk = await serve('first', ({ messages = [] }) => ({
      text: `after ${messages.length}`,
      end: messages.length > 2,
    }));
    const spec = aQueueSpec('first', { conversation: { first: 'target', maxTurns: 5 } });
    const sweep = await fleet.start('first', spec, people(1));
    await sweep.end();
    await desk.stop();
    assert.equal(desk.asked[0]?.latest_message, null);
    assert.deepEqual(await wordsOf(fleet.store, 'first/p0/1'), [
      'target: after 0',
      'driver: one',
      'target: after 2',
      'driver: two',
      'target: after 4',
    ]);
    const [result] = await resultsOf(fleet.store, sweep.record);
    assert.equal(result?.ending?.kind, 'target_hung_up');
  });

  it('that is not there is waited for, past every clock, and so it is when it goes and comes back', async () => {
    const spec = aQueueSpec('away', {
      timeouts: { callMs: 1_000, runMs: 1_500, giveUpMs: 1_500, sweepMs: 600_000 },
    });
    const sweep = await fleet.start('away', spec, people(20));
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    let served = 0;
    let enough = () => {};
    const halfWay = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const turn = () => {
      served += 1;
      if (served === 30) enough();
      return { text: 'fine' };
    };
    const first = await serve('away', turn);
    await halfWay;
    await first.stop();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const second = await serve('away', turn);
    const end = await sweep.end();
    await second.stop();
    assert.deepEqual(end.tally.outcomes, { passed: 20 });
    assert.equal(served, 60);
  });

  it('is at fault for an error once its tries are spent, at once where the error is final', async () => {
    const desk = await serve('failing', ({ run_id }) => {
      if (run_id.includes('p0')) throw new Error('no quota');
      throw ApplicationFailure.nonRetryable('no such desk');
    });
    const sweep = await fleet.start('failing', aQueueSpec('failing'), people(2));
    assert.deepEqual((await sweep.end()).tally.outcomes, { failed: 2 });
    await desk.stop();
    const results = await resultsOf(fleet.store, sweep.record);
    assert.deepEqual(
      results.map(({ run, ending, blame }) => [
        run,
        ending?.kind === 'target_error' && [ending.code, ending.detail],
        blame,
        desk.asked.filter(({ run_id }) => run_id === run).length,
      ]),
      [
        ['failing/p0/1', ['unavailable', 'target_turn on target.failing: no quota'], 'target', 2],
        ['failing/p1/1', ['module_error', 'target_turn on target.failing: no such desk'], 'target', 1],
      ],
    );
  });

  const wrong: readonly (readonly [string, Json, string, string])[] = [
    ['text alone', 'fine', 'bad_reply', 'where { text } was expected'],
    ['nothing to say', { text: ' ' }, 'bad_reply', 'neither text nor tool calls'],
    ['a tool call without a name', { text: 'x', tool_calls: [{}] }, 'bad_reply', 'cannot be read'],
    ['more than 64 KB', { text: 'x'.repeat(66_000) }, 'too_large', '65536 are allowed'],
  ];
  for (const [index, [title, reply, code, says]] of wrong.entries()) {
    it(`that answers with ${title} is ${code}`, async () => {
      const id = `wrong-${index}`;
      const desk = await serve(id, () => reply);
      const sweep = await fleet.start(id, aQueueSpec(id, {}, { retries: 1 }), people(1));
      await sweep.end();
      await desk.stop();
      const [result] = await resultsOf(fleet.store, sweep.record);
      assert.ok(result?.ending?.kind === 'target_error');
      assert.equal(result.ending.code, code);
      assert.ok(result.ending.detail.includes(says), result.ending.detail);
    });
  }

  it('that lost a session has its conversation begin anew', async () => {
    let lost = 0;
    const desk = await serve('lost', ({ session_id, latest_message }) => {
      if (latest_message === 'two' && lost === 0) {
        lost += 1;
        throw ApplicationFailure.nonRetryable('no such session', 'lost_session');
      }
      return { text: `heard ${latest_message}`, session_id: session_id ?? `s${lost}` };
    });
    const sweep = await fleet.start('lost', aQueueSpec('lost'), people(1));
    assert.deepEqual((await sweep.end()).tally.outcomes, { passed: 1 });
    await desk.stop();
    assert.deepEqual(
      desk.asked.map(({ session_id, latest_message }) => [session_id, latest_message]),
      [
        [null, 'one'],
        ['s0', 'two'],
        [null, 'one'],
        ['s1', 'two'],
        ['s1', 'three'],
      ],
    );
  });

  it('that waits for its worker is given up at once when the sweep is cancelled', async () => {
    const sweep = await fleet.start('cancelled', aQueueSpec('nobody'), people(2));
    await waitsForTarget('cancelled/p0/1');
    await sweep.handle.cancel();
    await sweep.end();
    const results = await resultsOf(fleet.store, sweep.record);
    assert.deepEqual(new Set(results.map(({ outcome }) => outcome)), new Set(['cancelled']));
  });
});
