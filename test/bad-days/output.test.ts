import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { sweepText } from './sweep-text.ts';
import { aUser, cliMain, type User } from './user.ts';

let practice: PracticeModel;
let user: User;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 150 });
  user = await aUser({ PRACTICE_URL: practice.url });
  const name = 'a-sweep-with-a-name-that-is-rather-long';
  await user.write(
    'sweep.json',
    sweepText(30, { name, concurrency: 8, checks: { polite: { contains_any: 'zzz' } } }),
  );
  assert.equal((await user.regatta(['server', 'start'])).code, 0);
});

after(async () => {
  await user?.leave();
  await practice?.close();
});

const escapeSign = '\u001B';
const node = process.execPath;

describe('output', { timeout: 120_000 }, () => {
  it('to files holds no escape codes', async () => {
    const end = await user.beginProgram('sh', [
      '-c',
      `${node} ${cliMain} run sweep.json --markdown - > out.txt 2> err.txt`,
    ]).ended;
    assert.equal(end.code, 3);
    for (const file of ['out.txt', 'err.txt']) {
      const text = readFileSync(join(user.folder, file), 'utf8');
      assert.ok(text.length > 0 && !text.includes(escapeSign), `${file}: ${JSON.stringify(text)}`);
    }
  });

  it('to a reader that leaves early neither stops the sweep nor changes its exit code', async () => {
    const line = `set -o pipefail; (${node} ${cliMain} run sweep.json --id piped --csv - 2>&1; echo $? > code.txt) | head -1`;
    const end = await user.beginProgram('bash', ['-c', line]).ended;
    assert.match(end.stdout, /30 runs/);
    assert.equal(readFileSync(join(user.folder, 'code.txt'), 'utf8'), '3\n');
    const report = await user.regatta(['report', 'piped', '--json', '-']);
    assert.equal(JSON.parse(report.stdout).runs.failed, 30);
  });

  it('to a terminal of 80 columns fits: no line wraps', async (t) => {
    if (spawnSync('script', ['--version']).status !== 0) return t.skip('needs the program `script`');
    const command = `stty cols 80 rows 40; ${node} ${cliMain} run sweep.json`;
    const end = await user.beginProgram('script', ['-qec', command, '/dev/null'], {
      env: { TERM: 'xterm-256color' },
    }).ended;
    assert.equal(end.code, 3);
    assert.ok(end.stdout.includes(escapeSign), 'no terminal was seen');
    const drawn = end.stdout.split(/\r?\n|\r/).map((line) => stripVTControlCharacters(line));
    assert.ok(
      drawn.some((line) => /\d+\/30 \d+ %/.test(line)),
      'no progress was drawn',
    );
    // What comes before are sentences with paths in them; a command to paste is never broken.
    const from = drawn.findIndex((line) => /\d+\/30/.test(line));
    const laidOut = drawn.slice(from).filter((line) => !line.includes('regatta '));
    for (const line of laidOut) assert.ok([...line].length <= 80, `${[...line].length} columns: ${line}`);
  });

  it('to a terminal has no colours with NO_COLOR', async (t) => {
    if (spawnSync('script', ['--version']).status !== 0) return t.skip('needs the program `script`');
    const args = ['-qec', `${node} ${cliMain} run sweep.json`, '/dev/null'];
    const end = await user.beginProgram('script', args, { env: { NO_COLOR: '1', TERM: 'xterm' } }).ended;
    assert.ok(end.stdout.includes(escapeSign));
    const codes = end.stdout.split(escapeSign).slice(1);
    assert.ok(codes.every((code) => !/^\[[0-9;]*m/.test(code)));
  });
});
