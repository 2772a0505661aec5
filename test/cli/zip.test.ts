import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { unpackEntry } from '../../cli/temporal-server/zip.ts';
import { aZip } from './zip-builder.ts';

const folder = mkdtempSync(join(tmpdir(), 'regatta-zip-'));
after(() => rmSync(folder, { recursive: true }));

const archive = join(folder, 'a.zip');
const target = join(folder, 'unpacked');

it('unpacks a deflated and a stored entry as executable files', async () => {
  const text = 'temporal '.repeat(10_000);
  writeFileSync(
    archive,
    aZip([
      { name: 'x/scripts/temporal', text },
      { name: 'x/METADATA', text: 'm', isStored: true },
    ]),
  );
  await unpackEntry(archive, '/scripts/temporal', target);
  assert.equal(readFileSync(target, 'utf8'), text);
  assert.equal(statSync(target).mode & 0o111, 0o111);
  await unpackEntry(archive, '/METADATA', target);
  assert.equal(readFileSync(target, 'utf8'), 'm');
});

it('says so when the entry or the archive is not there', async () => {
  writeFileSync(archive, aZip([{ name: 'other', text: 'm' }]));
  await assert.rejects(
    unpackEntry(archive, '/scripts/temporal', target),
    /holds no entry that ends in \/scripts\/temporal/,
  );
  writeFileSync(archive, 'not a zip');
  await assert.rejects(unpackEntry(archive, '/scripts/temporal', target), /not a zip archive/);
});
