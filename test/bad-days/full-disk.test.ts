import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createFileStore } from '../../adapters/file-store/index.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { told } from './results.ts';
import { callsEach, sweepText } from './sweep-text.ts';
import { aUser, type User, until } from './user.ts';

let practice: PracticeModel;
let user: User;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 50 });
  user = await aUser({ PRACTICE_URL: practice.url });
  await user.write('sweep.json', sweepText(40, { concurrency: 10 }));
});

after(async () => {
  await user?.leave();
  await practice?.close();
});

/** Mounts a small disk of its own; false where this user may not. */
function mount(folder: string, options: string): boolean {
  mkdirSync(folder, { recursive: true });
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status === 0;
}

describe('a store', { timeout: 120_000 }, () => {
  it('that cannot be written to at the start is named, and nothing is started', async () => {
    const end = await user.regatta(['run', 'sweep.json', '--store', 'sweep.json/inside', '--json']);
    assert.equal(end.code, 5, end.stderr);
    assert.ok(end.stderr.includes(join(user.folder, 'sweep.json/inside')), end.stderr);
    assert.equal(JSON.parse(end.stdout).error.kind, 'unreachable');
    assert.equal(user.serverPid(), undefined);
    assert.equal(practice.stats().calls, 0);
  });

  it('whose disk is full holds its runs up, says where, and loses none once there is room', async (t) => {
    const store = join(user.folder, 'small');
    if (!mount(store, 'size=8m')) return t.skip('mounting a small disk takes root');
    const filler = join(store, 'filler');
    try {
      const run = user.begin(['run', 'sweep.json', '--id', 'full', '--store', store, '--json']);
      await until(() => practice.stats().calls > 100);
      assert.throws(() => writeFileSync(filler, Buffer.alloc(16 * 2 ** 20)), /ENOSPC/);
      await run.says('no space left on device');
      await run.says(join(store, 'full'));
      const { calls } = practice.stats();
      assert.ok(calls < 40 * callsEach, 'it had ended before the disk was full');
      rmSync(filler);
      const end = await run.ended;
      assert.equal(end.code, 0, end.stderr);
      assert.equal(told(end.stdout).runs.passed, 40);
      const files = createFileStore(store);
      for (let scenario = 0; scenario < 40; scenario += 1) {
        const { events } = await files.readJournal(`full/s${scenario}/1`);
        assert.equal(events.filter(({ kind }) => kind === 'message').length, callsEach);
      }
    } finally {
      spawnSync('umount', ['-l', store]);
    }
  });

  it('that is read-only is named', async (t) => {
    const store = join(user.folder, 'frozen');
    if (!mount(store, 'size=8m')) return t.skip('mounting a small disk takes root');
    try {
      spawnSync('mount', ['-o', 'remount,ro', store]);
      const end = await user.regatta(['run', 'sweep.json', '--store', store]);
      assert.equal(end.code, 5, end.stderr);
      assert.ok(end.stderr.includes(store), end.stderr);
    } finally {
      spawnSync('umount', ['-l', store]);
    }
  });
});
