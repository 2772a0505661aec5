import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Fault } from '../../domain/fault.ts';
import { storesOf } from '../../workers/stores.ts';

const folder = mkdtempSync(join(tmpdir(), 'regatta-stores-'));
after(() => rmSync(folder, { recursive: true }));

function folderOf(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Why a worker that opens only these does not open that one; undefined where it does. */
function refusal(only: readonly string[], address: string | undefined): string | undefined {
  try {
    storesOf(only)(address);
  } catch (error) {
    assert.ok(error instanceof Fault);
    assert.equal(error.blame, 'configuration');
    return error.message;
  }
  return undefined;
}

describe('a worker that was given no store', () => {
  it('opens the one that a sweep names', () => {
    const sweeps = folderOf('sweeps');
    assert.equal(storesOf([])(sweeps).address, sweeps);
    assert.equal(storesOf([])('s3://evals/team-a').address, 's3://evals/team-a');
  });

  it('makes no folder that is not there, and names it', () => {
    const gone = join(folder, 'gone');
    assert.equal(
      refusal([], gone),
      `the sweep is in the store ${gone}: there is no such folder here; mount it there`,
    );
  });

  it('opens no folder by a path that depends on where it was started', () => {
    assert.match(refusal([], '.') ?? '', /^the sweep is in the store \.: there is no such folder/);
  });

  it('says so of a sweep that names none', () => {
    assert.match(refusal([], undefined) ?? '', /names no store, and this worker was given no --store/);
  });

  it('says what is wrong with an address that names no bucket', () => {
    assert.match(refusal([], 's3://a/../b') ?? '', /names no place in a bucket/);
  });
});

describe('a worker that was given stores', () => {
  it('opens them and what is in them', () => {
    const [team, night] = [folderOf('team'), folderOf('team/night')];
    for (const address of [team, night]) assert.equal(refusal([folderOf('other'), team], address), undefined);
    for (const address of ['s3://evals', 's3://evals/', 's3://evals/team-a'])
      assert.equal(refusal(['s3://evals'], address), undefined);
  });

  it('opens no other one, and names both', () => {
    const [team, other] = [folderOf('team'), folderOf('team-b')];
    assert.equal(
      refusal([team], other),
      `the sweep is in the store ${other}, and this worker opens only ${team}`,
    );
    for (const address of [folder, join(team, '..', 'team-b'), 's3://team', team.slice(1)])
      assert.match(refusal([team], address) ?? '', /opens only/);
    for (const address of ['s3://evals-b/team-a', 's3://evals', 's3://evals/team-ab', '/evals/team-a'])
      assert.match(refusal(['s3://evals/team-a'], address) ?? '', /opens only/);
  });

  it('opens the first for a sweep that names none', () => {
    const [team, other] = [folderOf('team'), folderOf('team-b')];
    assert.equal(storesOf([team, other])(undefined).address, team);
  });
});
