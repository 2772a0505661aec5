import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { publishedSchemas } from '../../formats/json-schema.ts';

const script = fileURLToPath(new URL('../../formats/write-schemas.ts', import.meta.url));

it('the published JSON Schemas are what the readers say', () => {
  for (const { file, text } of publishedSchemas()) {
    assert.equal(readFileSync(new URL(`../../formats/schemas/${file}`, import.meta.url), 'utf8'), text);
  }
});

it('the drift check is silent where nothing drifted', () => {
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
});

it('the schema of sweep files closes every map and knows each section', () => {
  const schema = JSON.parse(publishedSchemas()[0]?.text ?? '{}');
  assert.equal(schema.additionalProperties, false);
  assert.deepEqual(schema.required, ['scenarios']);
  assert.ok('thresholds' in schema.properties);
});
