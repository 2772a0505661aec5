import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { sweepText } from './sweep-text.ts';
import { aUser, type Ended, type User } from './user.ts';

let practice: PracticeModel;
let user: User;

before(async () => {
  practice = await startPracticeModel({ latencyMs: 20 });
  user = await aUser({ PRACTICE_URL: practice.url });
});

after(async () => {
  await user?.leave();
  await practice?.close();
});

const bad = `name: desk
models:
  practice:
    model: plain
    base_url: http://127.0.0.1:1/v1
  spare:
    model: gpt-4o
    base_url: http://127.0.0.1:1/v1
    pace: 3
scenarios:
  - id: one
    input: { order: 1 }
  - id: one
    input: { order: 2 }
  - file: rows/none.jsonl
  - file: rows/empty.jsonl
driver:
  model: practice
  prompt: You want {input.order}, {lastest_message}.
target:
  chat: { model: practise, system: You are a desk. }
checks:
  said: { matches_any: ["(unclosed"] }
thresholds:
  - pass_rat >= 0.9
concurrency: many
budget_usd: 5
`;

/** Nothing was started and nothing was paid. */
function assertNothingStarted(): void {
  assert.equal(existsSync(join(user.folder, '.regatta')), false);
  assert.deepEqual([practice.stats().calls, practice.stats().probes], [0, 0]);
}

function assertMistake(end: Ended, place: string, ...words: readonly string[]): void {
  const line = end.stderr.split('\n').find((each) => each.startsWith(place));
  assert.ok(line !== undefined, `nothing at ${place} in:\n${end.stderr}`);
  for (const word of words) assert.ok(end.stderr.includes(word), `no "${word}" in:\n${end.stderr}`);
}

describe('a bad sweep file', () => {
  before(async () => {
    await user.write('bad.yaml', bad);
    await user.write('rows/empty.jsonl', '');
  });

  for (const command of ['validate', 'plan', 'run', 'start']) {
    it(`is answered by ${command} with all its mistakes at once, each with its place and a hint`, async () => {
      const end = await user.regatta([command, 'bad.yaml']);
      assert.equal(end.code, 2);
      assertMistake(end, 'bad.yaml:9:5', 'pace');
      assertMistake(end, 'bad.yaml:13:', 'one');
      assertMistake(end, 'bad.yaml:15:', 'rows/none.jsonl');
      assertMistake(end, 'rows/empty.jsonl', 'no rows');
      assertMistake(end, 'bad.yaml:19:', '{lastest_message}');
      assertMistake(end, 'bad.yaml:21:', 'practise', 'practice');
      assertMistake(end, 'bad.yaml:23:', '(unclosed');
      assertMistake(end, 'bad.yaml:25:', 'pass_rate');
      assertMistake(end, 'bad.yaml:26:', 'concurrency');
      assertMistake(end, 'bad.yaml:27:', 'price');
      assertNothingStarted();
    });
  }

  it('is one error object on stdout with --json, and the same prose on stderr', async () => {
    for (const command of ['validate', 'run']) {
      const end = await user.regatta([command, 'bad.yaml', '--json']);
      assert.equal(end.code, 2);
      const { error } = JSON.parse(end.stdout);
      assert.equal(error.kind, 'usage');
      assert.match(error.message, /bad\.yaml:9:5/);
      assert.match(error.hint, /pass_rate/);
      assert.match(end.stderr, /bad\.yaml:25:/);
    }
  });

  it('whose YAML cannot be read is answered with the first mistake', async () => {
    await user.write('torn.yaml', 'name: desk\nmodels:\n  a: {b\nc: ]\n');
    const end = await user.regatta(['run', 'torn.yaml']);
    assert.equal(end.code, 2);
    assert.match(end.stderr, /^torn\.yaml:\d+:\d+/);
    assert.equal(end.stderr.match(/torn\.yaml:/g)?.length, 1);
    assertNothingStarted();
  });

  it('that is not there is named, with a way to get one', async () => {
    const end = await user.regatta(['run', 'nowhere.yaml']);
    assert.equal(end.code, 2);
    assert.match(end.stderr, /cannot read nowhere\.yaml: there is no such file/);
    assert.match(end.stderr, /regatta init/);
  });
});

describe('a sweep that cannot be played', () => {
  it('is refused where its environment names are not set, and plan says so', async () => {
    await user.write('sweep.json', sweepText(2));
    const planned = await user.regatta(['plan', 'sweep.json'], { env: { PRACTICE_URL: '' } });
    assert.equal(planned.code, 0);
    assert.match(planned.stdout, /PRACTICE_URL is not set/);
    const end = await user.regatta(['run', 'sweep.json'], { env: { PRACTICE_URL: '' } });
    assert.equal(end.code, 2);
    assert.match(end.stderr, /the environment variable PRACTICE_URL is not set/);
    assertNothingStarted();
  });

  it('is refused by plan where a module is missing or lies outside the project, also by a link', async () => {
    await user.write('outside/desk.ts', 'export const reply = () => "hello";\n');
    await mkdir(join(user.folder, 'project'), { recursive: true });
    await symlink(join(user.folder, 'outside/desk.ts'), join(user.folder, 'project/link.ts'));
    await symlink(join(user.folder, 'outside'), join(user.folder, 'project/linked'));
    await user.write('project/inner.ts', 'export { reply } from "./linked/desk.ts";\n');
    const modules = ['none.ts', '../outside/desk.ts', 'link.ts', 'linked/desk.ts', 'inner.ts'];
    for (const module of modules) {
      await user.write('project/sweep.json', sweepText(2, { target: { module } }));
      for (const command of ['plan', 'run']) {
        const end = await user.regatta([command, 'sweep.json'], { cwd: join(user.folder, 'project') });
        assert.equal(end.code, 2, `${command} with ${module}: ${end.stderr}`);
        assert.ok(/sweep\.json:\d+:\d+/.test(end.stderr), end.stderr);
        assert.match(end.stderr, module === 'none.ts' ? /none\.ts/ : /outside the project/);
      }
    }
    assert.equal(existsSync(join(user.folder, 'project/.regatta')), false);
    assertNothingStarted();
  });

  it('is named by doctor too, before anything is started', async () => {
    await user.write('sweep.json', sweepText(2, { target: { module: 'none.ts' } }));
    const missing = await user.regatta(['doctor', 'sweep.json']);
    assert.notEqual(missing.code, 0);
    assert.match(missing.stdout + missing.stderr, /none\.ts/);
    await user.write('sweep.json', sweepText(2));
    const unset = await user.regatta(['doctor', 'sweep.json'], { env: { PRACTICE_URL: '' } });
    assert.notEqual(unset.code, 0);
    assert.match(unset.stdout + unset.stderr, /PRACTICE_URL/);
    assert.equal(practice.stats().calls, 0);
  });

  it('of zero runs is a usage error, and fine with --allow-empty', async () => {
    await user.write('sweep.json', sweepText(2));
    for (const command of ['plan', 'run']) {
      const end = await user.regatta([command, 'sweep.json', '--only', 'zzz*']);
      assert.equal(end.code, 2, end.stderr);
      assert.match(end.stderr, /--allow-empty/);
      assertNothingStarted();
    }
    const empty = await user.regatta(['run', 'sweep.json', '--only', 'zzz*', '--allow-empty', '--json']);
    assert.equal(empty.code, 0, empty.stderr);
    assert.equal(JSON.parse(empty.stdout).runs.planned, 0);
    assert.equal(practice.stats().calls, 0);
  });
});

describe('a sweep file in another form', () => {
  it('plays as JSON, and as the default export of a TypeScript module', async () => {
    await user.write('sweep.json', sweepText(2));
    await user.write(
      'sweep.ts',
      `type Any = unknown;\nconst sweep: Any = ${sweepText(2)};\nexport default sweep;\n`,
    );
    for (const file of ['sweep.json', 'sweep.ts']) {
      const end = await user.regatta(['run', file, '--json']);
      assert.equal(end.code, 0, end.stderr);
      assert.equal(JSON.parse(end.stdout).runs.passed, 2);
    }
  });

  it('names the path of a mistake in a TypeScript module, which has no lines', async () => {
    await user.write('bad.ts', `export default ${sweepText(2, { concurency: 3 })};\n`);
    const end = await user.regatta(['run', 'bad.ts']);
    assert.equal(end.code, 2);
    assert.match(end.stderr, /bad\.ts.*concurency/);
    assert.match(end.stderr, /concurrency/);
  });

  it('says what is wrong with a TypeScript module that does not load', async () => {
    await user.write('broken.ts', 'throw new Error("no such table");\n');
    const end = await user.regatta(['run', 'broken.ts']);
    assert.equal(end.code, 2);
    assert.match(end.stderr, /cannot load broken\.ts: no such table/);
  });
});
