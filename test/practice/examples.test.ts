import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { readSweep } from '../../cli/sweep/read-sweep.ts';
import { aShell } from '../cli/test-shell.ts';

const files = globSync('examples/*/sweep.yaml');

describe('the examples', () => {
  it('are all there', () => {
    assert.ok(files.length >= 6, `${files.length} examples`);
  });

  for (const file of files) {
    const folder = dirname(file);
    it(`${folder} loads, runs without keys, and says how`, async () => {
      const { spec, scenarios } = await readSweep(aShell({ args: [], cwd: process.cwd() }), file, {});
      const services = { DESK_URL: 'agent.ts', ENDPOINT_URL: 'server.ts' };
      const needed = Object.entries(services).flatMap(([name, service]) =>
        existsSync(`${folder}/${service}`) ? [name] : [],
      );
      assert.ok(scenarios.length > 0);
      assert.deepEqual(spec.env, [...needed, 'PRACTICE_URL'].sort());
      assert.match(
        readFileSync(`${folder}/README.md`, 'utf8'),
        new RegExp(`node examples/run\\.ts ${spec.name}\``),
      );
    });
  }
});
