import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { workflowBundle } from '../../workers/bundle.ts';
import {
  type HistoryEvent,
  historyFromJson,
  type RecordedHistory,
  readRecordings,
  textOf,
} from './recorded.ts';

const recordings = readRecordings();
let folder: string;
let bundle: string;

before(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });
  folder = await mkdtemp(join(tmpdir(), 'regatta-replay-'));
  bundle = await workflowBundle(folder);
});

after(() => rm(folder, { recursive: true, force: true }));

/** What replaying found wrong, one line a workflow. */
async function replay(histories: readonly RecordedHistory[]): Promise<readonly string[]> {
  const proper = histories.map(({ workflowId, history }) => ({
    workflowId,
    history: historyFromJson(history),
  }));
  const wrong: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle: { codePath: bundle } },
    proper,
  )) {
    if (error !== undefined) wrong.push(`${workflowId}: ${error.name}: ${error.message}`);
  }
  return wrong;
}

describe('recorded histories', () => {
  for (const { name, histories } of recordings) {
    it(`of ${name} are what the workflows would do again`, async () => {
      assert.deepEqual(await replay(histories), []);
    });
  }

  it('cover sweeps, shards and runs, of both ways to play, and paces', () => {
    const ids = recordings.flatMap(({ histories }) => histories.map(({ workflowId }) => workflowId));
    for (const kind of [
      /^\w+-apart$/,
      /^\w+-inline$/,
      /^\w+-apart#shard/,
      /^\w+-inline#shard/,
      /^\w+-apart\/p\d/,
      /^regatta\.pace\//,
    ]) {
      assert.ok(
        ids.some((id) => kind.test(id)),
        `none is like ${kind}`,
      );
    }
  });

  it('cover stretches that were asked to stop, and runs that were cancelled', () => {
    const text = (name: string) =>
      recordings
        .find((recording) => recording.name === name)
        ?.histories.map(({ history }) => textOf(history))
        .join();
    for (const name of ['paused-apart', 'paused-inline', 'cancelled-apart', 'cancelled-inline']) {
      assert.ok(text(name)?.includes('ACTIVITY_TASK_CANCEL_REQUESTED'), name);
    }
    assert.ok(text('cancelled-apart')?.includes('\\"outcome\\":\\"cancelled\\"'));
  });

  it('say neither who recorded them nor where', () => {
    for (const { histories } of recordings) {
      for (const { workflowId, history } of histories) {
        assert.doesNotMatch(textOf(history), /\d+@|(?<![\w.])\/(home|root|tmp|work|Users|usr)\//, workflowId);
      }
    }
  });

  it('are seen to differ when the workflow does something else', async () => {
    const [shard] = recordings.flatMap(({ histories }) =>
      histories.filter(({ workflowId }) => workflowId.includes('#shard')),
    );
    assert.ok(shard);
    const events = shard.history.events.map((event) => renamed(event, 'openShard', 'closeShard'));
    const [wrong] = await replay([{ ...shard, history: { events } }]);
    assert.match(wrong ?? '', /DeterminismViolationError/);
  });
});

/** The event with another activity's name, where it schedules this one. */
function renamed(event: HistoryEvent, from: string, to: string): HistoryEvent {
  return JSON.parse(JSON.stringify(event).replace(`"name":"${from}"`, `"name":"${to}"`));
}
