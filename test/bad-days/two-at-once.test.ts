import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { assertOutcomes, told, transcripts } from './results.ts';
import { callsEach, sweepText, turns } from './sweep-text.ts';
import { aUser, type User } from './user.ts';

let practice: PracticeModel;
let user: User;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 50 });
  user = await aUser({ PRACTICE_URL: practice.url });
});

beforeEach(() => practice.reset());

after(async () => {
  await user?.leave();
  await practice?.close();
});

/** How often a server was started, as the commands say. */
function servers(...ends: readonly { readonly stderr: string }[]): number {
  return ends.filter(({ stderr }) => stderr.includes('Temporal server at')).length;
}

describe('two commands at the same time', { timeout: 120_000 }, () => {
  it('with one id play one sweep, and both end with its gate', async () => {
    await user.write('sweep.json', sweepText(30, { thresholds: ['pass_rate >= 0.9'] }));
    const args = ['run', 'sweep.json', '--id', 'same', '--json'];
    const ends = await Promise.all([user.regatta(args), user.regatta(args)]);
    for (const end of ends) {
      assert.equal(end.code, 0, end.stderr);
      assert.equal(told(end.stdout).runs.passed, 30);
    }
    assert.equal(practice.stats().calls, 30 * callsEach);
    assert.equal(servers(...ends), 1);
    await assertOutcomes(user, 'same', { passed: 30 });
  });

  it('with one id and other content: one plays, the other is told that the id is taken', async () => {
    await user.write('one.json', sweepText(5));
    await user.write('two.json', sweepText(6));
    const ends = await Promise.all(
      ['one', 'two'].map((file) => user.regatta(['run', `${file}.json`, '--id', 'taken'])),
    );
    const codes = ends.map(({ code }) => code).sort();
    assert.deepEqual(codes, [0, 2], ends.map(({ stderr }) => stderr).join('\n---\n'));
    const refused = ends.find(({ code }) => code === 2);
    assert.match(refused?.stderr ?? '', /the id taken is taken by another sweep/);
    assert.match(refused?.stderr ?? '', /regatta resume taken/);
  });

  it('in one folder share the server, and mix neither modules nor secrets', async () => {
    const other = await startPracticeModel({ latencyMs: 50, apiKey: 'key-of-b' });
    const keyed = { practice: { model: 'plain', base_url: `\${PRACTICE_URL}`, api_key: `\${KEY}` } };
    try {
      for (const name of ['a', 'b']) {
        await mkdir(join(user.folder, name), { recursive: true });
        await writeFile(join(user.folder, name, 'desk.ts'), `export const reply = () => 'I am ${name}.';\n`);
        const text = sweepText(20, { name, models: keyed, target: { module: 'desk.ts' } });
        await writeFile(join(user.folder, name, 'sweep.json'), text);
      }
      const play = (name: string, url: string) =>
        user.regatta(['run', `${name}/sweep.json`, '--id', name, '--project', name], {
          env: { PRACTICE_URL: url, KEY: `key-of-${name}` },
        });
      const ends = await Promise.all([play('a', practice.url), play('b', other.url)]);
      for (const end of ends) assert.equal(end.code, 0, end.stderr);
      assert.equal(servers(...ends), 1);
      for (const [name, { stats }] of [
        ['a', practice],
        ['b', other],
      ] as const) {
        assert.equal(stats().calls, 20 * turns);
        for (const words of (await transcripts(user, name)).values()) {
          assert.ok(words.includes(`target: I am ${name}.`), words.join('\n'));
        }
      }
      assert.equal(other.stats().rejected, 0);
    } finally {
      await other.close();
    }
  });
});

describe('what an earlier server left behind', { timeout: 120_000 }, () => {
  it('does not mislead: the pid and port of others, a stale lock, a torn state file', async () => {
    await user.write('sweep.json', sweepText(3));
    const state = {
      pid: process.pid,
      startTime: '1',
      port: practice.port,
      address: `127.0.0.1:${practice.port}`,
    };
    const rest = { version: '1.9.1', database: 'temporal.db', keep: false, stopped: false, users: [] };
    for (const [index, text] of [JSON.stringify({ ...state, ...rest }), '{"pid": 1', ''].entries()) {
      await user.write('.regatta/server.json', text);
      await user.write('.regatta/server.lock', `${process.pid}\n`);
      const end = await user.regatta(['run', 'sweep.json', '--id', `stale-${index}`]);
      assert.equal(end.code, 0, end.stderr);
    }
    assert.equal(practice.stats().calls, 3 * 3 * callsEach);
  });

  it('is used again where it still runs: a server whose runs were all killed', async () => {
    const run = user.begin(['run', 'sweep.json', '--id', 'orphaned']);
    await run.says('Temporal server at');
    const pid = user.serverPid();
    run.kill('SIGKILL');
    await run.ended;
    const end = await user.regatta(['run', 'sweep.json', '--id', 'heir']);
    assert.equal(end.code, 0, end.stderr);
    assert.equal(servers(end), pid === undefined ? 1 : 0);
  });
});
