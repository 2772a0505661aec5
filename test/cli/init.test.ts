import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { exitCodes } from '../../cli/exit-codes.ts';
import { runCli } from '../../cli/program.ts';
import { initFiles } from '../../formats/init-template.ts';
import { aShell } from './test-shell.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'regatta-init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('writes the first sweep into a new folder', async () => {
  assert.equal(await runCli(aShell({ args: ['init', 'first'], cwd: folder })), exitCodes.done);
  for (const { path, text } of initFiles()) {
    const withoutSchema = (whole: string) => whole.replace(/^# yaml-language-server.*\n/, '');
    assert.equal(withoutSchema(readFileSync(join(folder, 'first', path), 'utf8')), withoutSchema(text));
  }
});

it('names the schema that came with the program in the first line', async () => {
  await runCli(aShell({ args: ['init', 'first'], cwd: folder }));
  const [first = ''] = readFileSync(join(folder, 'first', 'sweep.yaml'), 'utf8').split('\n');
  const [, schema = ''] = /^# yaml-language-server: \$schema=(.+)$/.exec(first) ?? [];
  assert.match(readFileSync(join(folder, 'first', schema), 'utf8'), /json-schema\.org/);
});

it('overwrites no file and writes none when one is there', async () => {
  const taken = join(folder, initFiles().at(-1)?.path ?? '');
  writeFileSync(taken, 'mine');
  const shell = aShell({ args: ['init'], cwd: folder });
  assert.equal(await runCli(shell), exitCodes.usage);
  assert.match(shell.err(), /exists already/);
  assert.equal(readFileSync(taken, 'utf8'), 'mine');
});
