import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { initFiles } from '../../formats/init-template.ts';
import { readSweepFile } from '../../formats/sweep-file.ts';
import { aContext } from './a-context.ts';

const [sweep, desk] = initFiles('schemas/sweep.schema.json');

it('the first line of a new sweep names its JSON Schema', () =>
  assert.equal(sweep?.text.split('\n')[0], '# yaml-language-server: $schema=schemas/sweep.schema.json'));

it('a new sweep loads, and needs neither model nor environment', () => {
  const source = { file: 'sweep.yaml', format: 'yaml', text: sweep?.text ?? '' } as const;
  const { spec, scenarios } = readSweepFile(source, aContext());
  assert.deepEqual([spec.models, spec.env, scenarios.length], [{}, [], 2]);
  assert.equal(spec.targets[0]?.kind, 'module');
});

it('the agent of a new sweep answers what its checks expect', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'regatta-init-'));
  after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'desk.ts'), desk?.text ?? '');
  const { reply } = await import(pathToFileURL(join(folder, 'desk.ts')).href);
  assert.equal(
    reply({ messages: [{ role: 'user', content: 'Hello, where is my order 4471?' }] }),
    'I have looked at order 4471: it is on its way to you.',
  );
});
