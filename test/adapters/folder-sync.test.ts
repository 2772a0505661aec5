import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createFolderSync } from '../../adapters/file-store/folder-sync.ts';

/** A disk whose syncs end when they are told to. */
function aDisk() {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const syncOne = (folder: string) => {
    began.push(folder);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const endAll = async () => {
    await settle();
    for (const end of ends.splice(0)) end();
    await settle();
  };
  return { began, syncOne, endAll };
}

it('syncs a folder and those above it, up to the top and no further', async () => {
  const disk = aDisk();
  const done = createFolderSync(disk.syncOne)('/store/a/b', '/store/a');
  await disk.endAll();
  await disk.endAll();
  await done;
  assert.deepEqual(disk.began, ['/store/a/b', '/store/a']);
});

it('serves all who asked before a sync began with one, and those who came later with the next', async () => {
  const disk = aDisk();
  const syncUpTo = createFolderSync(disk.syncOne);
  const early = [syncUpTo('/top', '/top'), syncUpTo('/top', '/top')];
  await Promise.resolve();
  await Promise.resolve();
  const late = [syncUpTo('/top', '/top'), syncUpTo('/top', '/top')];
  await disk.endAll();
  await Promise.all(early);
  assert.equal(disk.began.length, 2);
  await disk.endAll();
  await Promise.all(late);
  assert.equal(disk.began.length, 2);
});

it('asks nothing of the folders above one whose name is on the disk already', async () => {
  const disk = aDisk();
  const syncUpTo = createFolderSync(disk.syncOne);
  const first = syncUpTo('/top/run', '/top');
  await disk.endAll();
  await disk.endAll();
  await first;
  const second = syncUpTo('/top/run', '/top');
  await disk.endAll();
  await second;
  assert.deepEqual(disk.began, ['/top/run', '/top', '/top/run']);
});
