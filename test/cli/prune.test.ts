import assert from 'node:assert/strict';
import { access, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { exitCodes } from '../../cli/exit-codes.ts';
import { runCli } from '../../cli/program.ts';
import { bytes } from '../../cli/render/numbers.ts';
import { startDevServer } from '../dev-server.ts';
import { aFolder, aStoredSweep } from './stored-sweep.ts';
import { aShell } from './test-shell.ts';

const wholeReport = { gate: 'shut', halted: null, cancelled: false, runs: { planned: 2, unplayed: 0 } };
/** The sweeps of `aStoredSweep` began on 1 March 2026. */
const now = Date.UTC(2026, 3, 15);

/** A folder with two sweeps that have ended and one that was left, and `regatta prune` in it on 15 April 2026. */
async function aStore(test: TestContext) {
  const { folder, remove } = await aFolder();
  test.after(remove);
  for (const id of ['ended-1', 'ended-2', 'left-1']) {
    const { store, play } = await aStoredSweep(folder, {}, id);
    await play(0, 'No.');
    if (id !== 'left-1') await store.putReport(id, wholeReport);
  }
  return {
    folder,
    sweeps: () => readdir(join(folder, '.regatta/sweeps')),
    /** With an answer: at a terminal. */
    async prune(args: readonly string[], answer?: string) {
      const shell = {
        ...aShell({ args: ['prune', ...args], cwd: folder }),
        now: () => now,
        ...(answer === undefined ? {} : { isTerminal: true, stdin: Readable.from([`${answer}\n`]) }),
      };
      const exitCode = await runCli(shell);
      return { exitCode, out: shell.out(), err: shell.err() };
    },
  };
}

describe('prune', { concurrency: true }, () => {
  it('removes the old sweeps that have ended, and says what that freed', async (test) => {
    const { prune, sweeps } = await aStore(test);
    const { exitCode, out } = await prune(['--older-than', '30d', '--yes', '--json']);
    const { dry_run, removed, leftover_bytes, freed_bytes } = JSON.parse(out);
    assert.equal(exitCode, exitCodes.done);
    assert.deepEqual(
      removed.map(({ id, state, started }: { [name: string]: string }) => ({ id, state, started })),
      ['ended-1', 'ended-2'].map((id) => ({ id, state: 'ended', started: '2026-03-01T12:00:00.000Z' })),
    );
    assert.deepEqual([dry_run, leftover_bytes], [false, 0]);
    assert.equal(freed_bytes, removed[0].bytes + removed[1].bytes);
    assert.ok(removed[0].bytes > 1_000);
    assert.deepEqual(await sweeps(), ['left-1']);
  });

  it('leaves younger sweeps alone', async (test) => {
    const { prune, sweeps } = await aStore(test);
    const { err } = await prune(['--older-than', '60d', '--yes']);
    assert.equal(err, 'removed 0 sweeps, 0 B\n');
    assert.equal((await sweeps()).length, 3);
  });

  it('keeps the newest, however old they are', async (test) => {
    const { prune, sweeps } = await aStore(test);
    await prune(['--older-than', '30d', '--keep', '1', '--yes']);
    assert.deepEqual(await sweeps(), ['ended-1', 'left-1']);
  });

  it('removes a sweep without a report only when it is told to', async (test) => {
    const { prune, sweeps } = await aStore(test);
    await prune(['--older-than', '30d', '--unfinished', '--yes']);
    assert.deepEqual(await sweeps(), []);
  });

  it('only shows them with --dry-run', async (test) => {
    const { prune, sweeps } = await aStore(test);
    const { exitCode, out, err } = await prune(['--older-than', '30d', '--dry-run']);
    assert.equal(exitCode, exitCodes.done);
    assert.match(
      out,
      /^sweep {4}state {2}started \(UTC\) +size\nended-1 {2}ended {2}2026-03-01 12:00 {2}[\d.]+ kB\nended-2/,
    );
    assert.match(err, /^would remove 2 sweeps, [\d.]+ kB\n$/);
    assert.equal((await sweeps()).length, 3);
  });

  it('asks at a terminal, and takes all but yes for no', async (test) => {
    const { prune, sweeps } = await aStore(test);
    const refused = await prune(['--older-than', '30d'], '');
    assert.match(refused.err, /^Remove 2 sweeps \([\d.]+ kB\) from .*sweeps\? \[y\/N\] removed 0 sweeps/);
    assert.equal((await sweeps()).length, 3);
    await prune(['--older-than', '30d'], 'y');
    assert.deepEqual(await sweeps(), ['left-1']);
  });

  it('removes nothing where nobody can be asked', async (test) => {
    const { prune, sweeps } = await aStore(test);
    const { exitCode, err } = await prune(['--older-than', '30d']);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, /without a terminal nobody can be asked \(--yes asks nothing/);
    assert.equal((await sweeps()).length, 3);
  });

  it('wants a time with its unit', async (test) => {
    const { prune } = await aStore(test);
    const { exitCode, err } = await prune(['--older-than', '30', '--yes']);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, /A time with its unit is needed: 12h, 30d/);
  });

  it('removes what crashes left more than a day ago, and the logs of sweeps that go', async (test) => {
    const { folder, prune } = await aStore(test);
    const leftover = join(folder, '.regatta/sweeps/.0f8fad5b-d9cb-469f-a165-70867728950e.tmp');
    await mkdir(leftover);
    await writeFile(join(leftover, 'sweep.json'), 'seven b');
    await utimes(leftover, new Date(now - 90_000_000), new Date(now - 90_000_000));
    const logs = ['ended-1', 'left-1'].map((id) => join(folder, '.regatta', `${id}.log`));
    for (const log of logs) await writeFile(log, '');
    const { out } = await prune(['--older-than', '30d', '--yes', '--json']);
    assert.equal(JSON.parse(out).leftover_bytes, 7);
    await assert.rejects(access(logs[0] ?? ''));
    await access(logs[1] ?? '');
    await assert.rejects(access(leftover));
  });

  it('never removes a sweep whose workflow is open, whatever an earlier report says', async (test) => {
    const { prune, sweeps } = await aStore(test);
    const server = await startDevServer();
    const connection = await Connection.connect({ address: server.address });
    const { workflow } = new Client({ connection });
    await workflow.start('sweepWorkflow', { workflowId: 'ended-1', taskQueue: 'nobody' });
    await prune(['--older-than', '30d', '--yes', '--unfinished', '--address', server.address]);
    assert.deepEqual(await sweeps(), ['ended-1']);
    await connection.close();
    await server.stop();
  });

  it('removes nothing where a Temporal that was named is away', async (test) => {
    const { prune, sweeps } = await aStore(test);
    const { exitCode } = await prune(['--older-than', '30d', '--yes', '--address', '127.0.0.1:1']);
    assert.equal(exitCode, exitCodes.unreachable);
    assert.equal((await sweeps()).length, 3);
  });
});

it('bytes are told in the unit that fits', () => {
  assert.deepEqual([0, 999, 999.6, 1_234, 999_600, 35_000_000, 2e15].map(bytes), [
    ...['0 B', '999 B', '1 kB', '1.23 kB', '1 MB', '35 MB', '2000 TB'],
  ]);
});
