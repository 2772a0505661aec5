import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { aModel, aScenario, aSpec } from '../sweep-builders.ts';
import { startTestFleet, type TestFleet } from '../test-fleet.ts';
import { type HistoryEvent, historyToJson } from './recorded.ts';

/** The longest id that a scenario may bring along with these sweeps' ids. */
const people = Array.from({ length: 20 }, (_, index) => aScenario(`${'x'.repeat(170)}-${index}`));
const histories = new Map<string, readonly HistoryEvent[]>();
let fleet: TestFleet;
let practice: PracticeModel;

// With a limit of its own, so that the server is stopped also when a sweep does not end.
before(
  async () => {
    fleet = await startTestFleet();
    practice = await startPracticeModel({ latencyMs: 10 });
    const spec = aSpec(aModel(practice.url));
    for (const inline of [true, false]) {
      const sweep = await fleet.start(inline ? 'inline' : 'apart', spec, people, { inline });
      await sweep.end();
    }
    for await (const { workflowId } of fleet.client.workflow.list()) {
      histories.set(
        workflowId,
        historyToJson(await fleet.client.workflow.getHandle(workflowId).fetchHistory()).events,
      );
    }
  },
  { timeout: 60_000 },
);

after(async () => {
  await fleet?.stop();
  await practice?.close();
});

/** The events of a workflow of this id. */
function eventsOf(id: string): readonly HistoryEvent[] {
  const events = histories.get(id);
  assert.ok(events, `${id} is not among ${[...histories.keys()].join(', ')}`);
  return events;
}

/** Bytes of each payload in the attributes of events of such a type. */
function payloadBytes(events: readonly HistoryEvent[], type: RegExp): readonly number[] {
  const bytes: number[] = [];
  const measure = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('data' in value && typeof value.data === 'string')
      bytes.push(Buffer.byteLength(value.data, 'base64'));
    else Object.values(value).forEach(measure);
  };
  events.filter(({ eventType }) => type.test(eventType)).forEach(measure);
  assert.ok(bytes.length > 0, `no payload in ${type}`);
  return bytes;
}

const runs = () => [...histories.keys()].filter((id) => id.startsWith('apart/'));

describe('histories', () => {
  it('of a shard of 500 runs stay below 6,000 events, of one stretch or in a workflow each', () => {
    for (const id of ['inline#shard-0', 'apart#shard-0']) {
      const perRun = eventsOf(id).length / people.length;
      assert.ok(perRun <= 12, `${id}: ${perRun} events a run`);
    }
  });

  it('of a run of one stretch hold few events', () => {
    assert.equal(runs().length, people.length);
    for (const id of runs()) assert.ok(eventsOf(id).length <= 12, `${eventsOf(id).length} events`);
  });

  it('are given at most 1 KB for a run', () => {
    for (const id of runs()) {
      const [most = 0] = [
        ...payloadBytes(eventsOf(id), /WORKFLOW_EXECUTION_STARTED|ACTIVITY_TASK_SCHEDULED/),
      ].sort((a, b) => b - a);
      assert.ok(most <= 1_024, `${most} bytes`);
    }
  });

  it('are told at most 400 bytes of what became of a run', () => {
    for (const id of runs()) {
      for (const bytes of payloadBytes(
        eventsOf(id),
        /ACTIVITY_TASK_COMPLETED|WORKFLOW_EXECUTION_COMPLETED/,
      )) {
        assert.ok(bytes <= 400, `${bytes} bytes`);
      }
    }
  });

  it('are told at most 2 KB of what became of a shard', () => {
    for (const id of ['inline#shard-0', 'apart#shard-0']) {
      for (const bytes of payloadBytes(eventsOf(id), /WORKFLOW_EXECUTION_COMPLETED$/))
        assert.ok(bytes <= 2_048, `${bytes} bytes`);
    }
  });
});
