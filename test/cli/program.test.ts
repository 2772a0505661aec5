import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { exitCodes } from '../../cli/exit-codes.ts';
import { runCli } from '../../cli/program.ts';
import { aShell } from './test-shell.ts';

const folder = mkdtempSync(join(tmpdir(), 'regatta-program-'));
after(() => rmSync(folder, { recursive: true }));

const launcher = fileURLToPath(new URL('../../regatta', import.meta.url));

async function run(args: readonly string[], env = {}) {
  const shell = aShell({ args, env, cwd: folder });
  const exitCode = await runCli(shell);
  return { exitCode, out: shell.out(), err: shell.err() };
}

describe('the command line', () => {
  it('prints help of at most 80 columns on stdout and exits 0', async () => {
    for (const args of [['--help'], ['server', '--help'], ['practice-model', '--help'], ['init', '--help']]) {
      const { exitCode, out, err } = await run(args);
      assert.equal(exitCode, exitCodes.done);
      assert.equal(err, '');
      assert.deepEqual(
        out.split('\n').filter((line) => line.length > 80),
        [],
      );
      assert.match(out, /Examples:\n( {2}\$ regatta .*\n){3}/);
    }
  });

  it('shows its help on stderr and exits 2 when no command is named', async () => {
    const { exitCode, out, err } = await run([]);
    assert.deepEqual({ exitCode, out }, { exitCode: exitCodes.usage, out: '' });
    assert.match(err, /^Usage: regatta/);
  });

  it('names the closest flag for an unknown one and exits 2', async () => {
    const { exitCode, out, err } = await run(['server', 'status', '--jsn']);
    assert.deepEqual({ exitCode, out }, { exitCode: exitCodes.usage, out: '' });
    assert.equal(err, "unknown option '--jsn' (Did you mean --json?)\n");
  });

  it('tells a failure as one JSON object on stdout when --json is given', async () => {
    const { out } = await run(['server', 'status', '--json']);
    assert.deepEqual(JSON.parse(out), {
      error: {
        kind: 'unreachable',
        message: 'no Temporal server runs for this folder',
        hint: 'regatta server start',
      },
    });
  });

  it('takes a flag from its REGATTA_ variable', async () => {
    assert.match((await run(['server', 'status'], { REGATTA_JSON: '1' })).out, /^\{"error"/);
    assert.equal((await run(['server', 'status'], { REGATTA_JSON: '0' })).out, '');
  });

  it('reads a variable as strictly as the flag', async () => {
    const { exitCode, err } = await run(['practice-model'], { REGATTA_LATENCY_MS: 'soon' });
    assert.equal(exitCode, exitCodes.usage);
    assert.equal(err, 'REGATTA_LATENCY_MS=soon: A whole number from 0 is needed.\n');
  });
});

describe('the launcher', () => {
  it('runs the checkout from any folder without a warning', async () => {
    const child = spawn(launcher, ['--version'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err] = [child.stdout, child.stderr].map((stream) => stream.setEncoding('utf8').toArray());
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    assert.match((await out)?.join('') ?? '', /^\d+\.\d+\.\d+\n$/);
    assert.deepEqual(await err, []);
  });

  it('is quiet when the reader of its output goes away', async () => {
    const child = spawn(launcher, ['--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const err = child.stderr.setEncoding('utf8').toArray();
    assert.deepEqual(await once(child, 'exit'), [exitCodes.done, null]);
    assert.deepEqual(await err, []);
  });

  it('ends by itself with the exit code of its command', async () => {
    const child = spawn(launcher, ['server', 'status'], { cwd: folder, env: process.env, stdio: 'ignore' });
    assert.deepEqual(await once(child, 'exit'), [exitCodes.unreachable, null]);
  });

  it('finds its checkout through links', async () => {
    symlinkSync(launcher, join(folder, 'first'));
    symlinkSync('first', join(folder, 'second'));
    const child = spawn(join(folder, 'second'), ['--version'], { cwd: '/', stdio: 'ignore' });
    assert.deepEqual(await once(child, 'exit'), [exitCodes.done, null]);
  });

  it('says in one line that Node is missing or too old', async () => {
    const bare = join(folder, 'bare');
    mkdirSync(bare);
    copyFileSync(launcher, join(bare, 'regatta'));
    writeFileSync(join(bare, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const child = spawn(join(bare, 'regatta'), ['--version'], {
      env: { PATH: `${bare}:/usr/bin:/bin` },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const err = child.stderr.setEncoding('utf8').toArray();
    assert.deepEqual(await once(child, 'exit'), [exitCodes.usage, null]);
    assert.match((await err).join(''), /^regatta needs Node 22\.18 or newer: .*\n$/);
  });
});
