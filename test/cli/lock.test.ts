import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, it } from 'node:test';
import { withLock } from '../../cli/temporal-server/lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'regatta-lock-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'a.lock');

it('lets in one at a time', async () => {
  let inside = 0;
  const work = async () => {
    inside += 1;
    assert.equal(inside, 1);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 5 }, () => withLock(file, work)));
});

it('is free again when the process that held it was killed', async () => {
  const url = new URL('../../cli/temporal-server/lock.ts', import.meta.url).href;
  const hold = `import { withLock } from '${url}';
    await withLock('${file}', () => new Promise(() => { console.log('held'); setInterval(() => {}, 1000); }));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', hold], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  await assert.rejects(
    withLock(file, async () => {}, 25),
    /holds .*a\.lock/,
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(await withLock(file, async () => 'in'), 'in');
});

it('is given back when the work throws', async () => {
  await assert.rejects(
    withLock(file, () => Promise.reject(new Error('no'))),
    /^Error: no$/,
  );
  assert.equal(await withLock(file, async () => 'in'), 'in');
});
