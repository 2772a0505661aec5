import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { exitCodes } from '../../cli/exit-codes.ts';
import { type DevServer, startDevServer } from '../dev-server.ts';
import { aFolder, aStoredSweep } from './stored-sweep.ts';

type Here = Awaited<ReturnType<typeof aFolder>>;

const wholeReport = { gate: 'shut', halted: null, cancelled: false, runs: { planned: 2, unplayed: 0 } };

describe('list', { concurrency: true }, () => {
  let here: Here;
  before(async () => {
    here = await aFolder();
    const ended = await aStoredSweep(here.folder, {}, 'ended-1');
    await ended.play(0, 'It is refunded.');
    await ended.play(1, 'No.');
    await ended.store.putReport('ended-1', wholeReport);
    const halted = await aStoredSweep(here.folder, {}, 'halted-1');
    await halted.play(0, 'It is refunded.');
    await halted.store.putReport('halted-1', {
      ...{ ...wholeReport, gate: 'undecided', runs: { planned: 2, unplayed: 1 } },
      halted: { reason: 'budget', detail: '' },
    });
    const wentOn = await aStoredSweep(here.folder, {}, 'went-1');
    await wentOn.play(0, 'It is refunded.');
    await wentOn.store.putReport('went-1', {
      ...{ ...wholeReport, gate: 'undecided', runs: { planned: 2, unplayed: 1 } },
    });
    const left = await aStoredSweep(here.folder, {}, 'left-1');
    await left.play(0, 'It is refunded.');
    await left.play(1, 'No.', ['1-1-a'], false);
  });
  after(() => here.remove());

  const started = '2026-03-01T12:00:00.000Z';
  const sweeps = [
    { id: 'ended-1', state: 'ended', gate: 'shut', planned: 2, ended: 2, started },
    { id: 'halted-1', state: 'halted', gate: 'undecided', planned: 2, ended: 1, started },
    { id: 'left-1', state: 'interrupted', gate: null, planned: 2, ended: 1, started },
    { id: 'went-1', state: 'interrupted', gate: null, planned: 2, ended: 1, started },
  ];

  it('prints what the store knows of each sweep', async () => {
    const { exitCode, out, err } = await here.regatta(['list', '--json']);
    assert.deepEqual({ exitCode, err }, { exitCode: exitCodes.done, err: '' });
    assert.deepEqual(JSON.parse(out), { sweeps });
  });

  it('is a table for people', async () => {
    assert.equal(
      (await here.regatta(['list'])).out,
      `sweep     state        gate       ended  started (UTC)
ended-1   ended        shut         2/2  2026-03-01 12:00
halted-1  halted       undecided    1/2  2026-03-01 12:00
left-1    interrupted               1/2  2026-03-01 12:00
went-1    interrupted               1/2  2026-03-01 12:00
`,
    );
  });

  it('says where it looked when there is none', async () => {
    const { exitCode, out, err } = await here.regatta(['list', '--store', 'elsewhere']);
    assert.deepEqual({ exitCode, out }, { exitCode: exitCodes.done, out: '' });
    assert.equal(err, `no sweeps in ${here.folder}/elsewhere\n`);
    assert.equal((await here.regatta(['list', '--store', 'elsewhere', '--json'])).out, '{"sweeps":[]}\n');
  });

  it('warns and goes on without a Temporal that was named and is away', async () => {
    const { exitCode, out, err } = await here.regatta(['list', '--json', '--address', '127.0.0.1:1']);
    assert.equal(exitCode, exitCodes.done);
    assert.match(err, /^warning: Temporal is out of reach: .*; states are those of the store\n$/);
    assert.deepEqual(JSON.parse(out), { sweeps });
  });

  describe('with a Temporal that runs', () => {
    let server: DevServer;
    before(async () => {
      server = await startDevServer();
    });
    after(() => server.stop());

    it('a sweep whose workflow is open is running, whatever an earlier report says', async () => {
      const connection = await Connection.connect({ address: server.address });
      const { workflow } = new Client({ connection });
      await workflow.start('sweepWorkflow', { workflowId: 'halted-1', taskQueue: 'nobody' });
      const { out } = await here.regatta(['list', '--json', '--address', server.address]);
      const { sweeps: listed } = JSON.parse(out) as { sweeps: { id: string }[] };
      assert.deepEqual(
        listed.find(({ id }) => id === 'halted-1'),
        { id: 'halted-1', state: 'running', gate: null, planned: 2, ended: 1, started },
      );
      await connection.close();
    });
  });
});

it('puts the newest sweep first, and warns of one that cannot be read', async () => {
  const here = await aFolder();
  const { store } = await aStoredSweep(here.folder, {}, 'b-old');
  const record = await store.readSweep('b-old');
  assert.ok(record !== undefined);
  const shard = await store.readShard('b-old', 0);
  for (const [id, at, schema] of [
    ['a-new', Date.UTC(2027), 1],
    ['c-strange', 0, 99],
  ] as const) {
    await store.createSweep({ ...record, id, schema: schema as 1, created: { ...record.created, at } }, [
      shard,
    ]);
  }
  const { out, err } = await here.regatta(['list', '--json']);
  assert.deepEqual(
    JSON.parse(out).sweeps.map(({ id }: { id: string }) => id),
    ['a-new', 'b-old'],
  );
  assert.match(err, /^warning: .*c-strange.*a sweep of schema 99/);
  await here.remove();
});
