import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { blocksOf, root, textOf } from './markdown.ts';

const folder = mkdtempSync(join(tmpdir(), 'regatta-readme-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const blocks = blocksOf('README.md');
const commands = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.trim().split('\n'));

/** Types a command as a reader would, with the checkout on the PATH. */
function type(command: string) {
  const env = { ...process.env, PATH: `${root}${delimiter}${process.env.PATH}` };
  return spawnSync('sh', ['-c', command], { cwd: folder, env, encoding: 'utf8' });
}

const [sweep] = blocks.filter(({ language, info }) => language === 'yaml' && info === '');
writeFileSync(join(folder, 'sweep.yaml'), sweep?.text ?? '');

for (const command of commands.filter((line) => /^regatta (validate|plan) /.test(line))) {
  test(`the README's command runs: ${command}`, () => {
    const { status, stdout, stderr } = type(command);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /sweep\.yaml: fine|2 scenarios x 3 repeats = 6 runs/);
  });
}

test('the README shows how to validate and to plan', () => {
  for (const verb of ['validate', 'plan']) assert.ok(commands.includes(`regatta ${verb} sweep.yaml`), verb);
});

test("the README's init writes a sweep that validates", () => {
  const [command] = /regatta init \S+?(?=`)/.exec(textOf('README.md')) ?? [];
  assert.ok(command);
  assert.equal(type(command).status, 0);
  const written = command.split(' ').at(-1) ?? '';
  assert.ok(existsSync(join(folder, written, 'sweep.yaml')));
  assert.equal(type(`regatta validate ${written}/sweep.yaml`).status, 0);
});

test("every command of the README's blocks exists", () => {
  const names = new Set(commands.flatMap((line) => /^(?:\.\/)?regatta (\w+)/.exec(line)?.[1] ?? []));
  assert.ok(names.size > 5);
  for (const name of names) assert.equal(type(`regatta ${name} --help`).status, 0, name);
});

test("the README's stand-in agent is a program", () => {
  const [agent] = blocks.filter(({ language }) => language === 'js');
  writeFileSync(join(folder, 'agent.mjs'), agent?.text ?? '');
  execFileSync(process.execPath, ['--check', join(folder, 'agent.mjs')]);
});

test('the README names the commands of the demo and of the tests that the proof of a checkout runs', () => {
  const proof = textOf('.ci/run');
  const { scripts } = JSON.parse(textOf('package.json')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  for (const [command, script] of [
    ['npm run demo', 'demo'],
    ['npm test', 'test'],
  ] as const) {
    assert.ok(commands.includes(`npm ci && ${command}`), command);
    assert.ok(proof.includes(command), command);
    assert.ok(scripts[script], script);
  }
});

test('the map of the folders names every folder of the checkout', () => {
  const hidden = ['node_modules', 'dist'];
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !hidden.includes(entry.name))
    .filter(({ name }) => readdirSync(join(root, name)).length > 0)
    .map(({ name }) => name);
  const readme = textOf('README.md');
  assert.deepEqual(
    folders.filter((name) => !readme.includes(`\`${name}/\``)),
    [],
  );
});
