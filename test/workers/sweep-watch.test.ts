import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyTally } from '../../domain/tally.ts';
import type { FoundSweep, Poller, QueueSource } from '../../workers/queue-source.ts';
import { type QueueReading, sweepLookout, watchSweeps } from '../../workers/sweep-watch.ts';
import type { SweepProgress } from '../../workflows/messages.ts';

const minuteMs = 60_000;

function aProgress(fields: Partial<SweepProgress> = {}): SweepProgress {
  return { state: 'running', runs: 10, open: 2, window: 5, tally: emptyTally, startedAt: 0, ...fields };
}

/** A queue whose pollers, sweeps and answers the test sets. */
function aQueue() {
  const clock = { at: 1_000 * minuteMs };
  const temporal = {
    pollers: [{ identity: 'me', seenAt: 100 }] as readonly Poller[],
    found: [] as readonly FoundSweep[],
    answer: (_: FoundSweep): Promise<SweepProgress> => Promise.resolve(aProgress()),
    reachable: true,
    asked: [] as string[],
    since: 0,
  };
  const source: QueueSource = {
    async describe() {
      if (!temporal.reachable) throw new Error('no answer');
      return { pollers: temporal.pollers, backlog: { workflow: 1, activity: 2 } };
    },
    async listSweeps(since) {
      temporal.since = since;
      return temporal.found;
    },
    progress(found) {
      temporal.asked.push(found.execution);
      return temporal.answer(found);
    },
  };
  const shown: (QueueReading | undefined)[] = [];
  const failures: unknown[] = [];
  const options = {
    source,
    identity: 'me',
    show: (reading: QueueReading | undefined) => void shown.push(reading),
    onFailure: (error: unknown) => void failures.push(error),
    now: () => clock.at,
  };
  return { clock, temporal, shown, failures, options, ...sweepLookout(options) };
}

const night: FoundSweep = { sweep: 'night', execution: 'n1', isRunning: true };

describe('a worker that tells of the sweeps of its queue', () => {
  it('tells how each stands, and what waits in the queue', async () => {
    const { temporal, look, shown } = aQueue();
    temporal.found = [night, { sweep: 'day', execution: 'd1', isRunning: true }];
    await look();
    const [reading] = shown;
    assert.deepEqual(
      reading?.sweeps.map(({ sweep, progress }) => [sweep, progress.open]),
      [
        ['night', 2],
        ['day', 2],
      ],
    );
    assert.deepEqual(reading?.backlog, { workflow: 1, activity: 2 });
  });

  it('leaves it to others where two come before it by name', async () => {
    const { temporal, look, shown } = aQueue();
    temporal.found = [night];
    temporal.pollers = ['a', 'b', 'me'].map((identity) => ({ identity, seenAt: 100 }));
    await look();
    assert.deepEqual(shown, [undefined]);
    assert.deepEqual(temporal.asked, []);
  });

  it('takes over when one before it has not asked for work for longer than a poll lasts', async () => {
    const { temporal, look, shown } = aQueue();
    temporal.found = [night];
    temporal.pollers = [
      { identity: 'a', seenAt: 10 },
      { identity: 'b', seenAt: 100 },
      { identity: 'me', seenAt: 90 },
    ];
    await look();
    assert.equal(shown[0]?.sweeps.length, 1);
  });

  it('asks a sweep that has ended once, tells of it as ended, and asks for none older than five minutes', async () => {
    const { clock, temporal, look, shown } = aQueue();
    temporal.found = [{ ...night, isRunning: false }];
    await look();
    await look();
    assert.deepEqual(temporal.asked, ['n1']);
    assert.equal(shown[1]?.sweeps[0]?.progress.state, 'ended');
    assert.equal(temporal.since, clock.at - 5 * minuteMs);
  });

  it('asks a sweep again once it has ended, for its last numbers', async () => {
    const { temporal, look, shown } = aQueue();
    temporal.found = [night];
    await look();
    temporal.found = [{ ...night, isRunning: false }];
    temporal.answer = () => Promise.resolve(aProgress({ open: 0 }));
    await look();
    assert.equal(shown[1]?.sweeps[0]?.progress.open, 0);
  });

  it('tells of a resumed sweep once, as it stands now', async () => {
    const { temporal, look, shown } = aQueue();
    temporal.found = [
      { ...night, execution: 'n2' },
      { ...night, isRunning: false },
    ];
    await look();
    assert.deepEqual(
      shown[0]?.sweeps.map(({ progress }) => progress.state),
      ['running'],
    );
  });

  it('keeps the last numbers of a sweep that does not answer for a minute, and counts each failure', async () => {
    const { clock, temporal, look, shown, failures } = aQueue();
    temporal.found = [night];
    await look();
    temporal.answer = () => Promise.reject(new Error('no answer'));
    clock.at += minuteMs - 1;
    await look();
    assert.equal(shown[1]?.sweeps.length, 1);
    clock.at += 1;
    await look();
    assert.equal(shown[2]?.sweeps.length, 0);
    assert.equal(failures.length, 2);
  });

  it('goes silent when Temporal was out of reach for a minute', async () => {
    const { clock, temporal, look, shown } = aQueue();
    await look();
    temporal.reachable = false;
    await look();
    assert.equal(shown.length, 1);
    clock.at += minuteMs;
    await look();
    assert.equal(shown[1], undefined);
    assert.equal(shown.length, 2);
  });

  it('tells nothing more once it is asked to stop', async () => {
    const { options, shown, temporal } = aQueue();
    temporal.found = [night];
    const ended = new AbortController();
    let pauses = 0;
    const sleep = async () => {
      pauses += 1;
      if (pauses === 3) ended.abort();
    };
    await watchSweeps(options, sleep, ended.signal);
    assert.deepEqual(
      shown.map((reading) => reading?.sweeps.length),
      [1, 1, undefined],
    );
  });
});
