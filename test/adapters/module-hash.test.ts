import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { moduleHash, relativeImports } from '../../adapters/module-hash.ts';

type Files = { readonly [file: string]: string };

async function aProject(context: TestContext, files: Files): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), 'regatta-modules-')), 'project');
  context.after(() => rm(dirname(folder), { recursive: true }));
  await change(folder, files);
  return folder;
}

async function change(folder: string, files: Files): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), content);
  }
}

test('a module is named relative to the project, with a hash in hex', async (context) => {
  const project = await aProject(context, { 'tools/find.ts': 'export const a = 1;' });
  const module = await moduleHash(project, 'tools/find.ts');
  assert.equal(module.file, 'tools/find.ts');
  assert.match(module.sha256, /^[0-9a-f]{64}$/);
  assert.deepEqual(await moduleHash(project, join(project, 'tools/find.ts')), module);
});

test('the hash changes with the module and with whatever it imports, near or far, and with nothing else', async (context) => {
  const project = await aProject(context, {
    'agent.ts': "import { a } from './lib/a.ts';\nimport type { T } from './types.ts';",
    'lib/a.ts': "export * from '../b.ts'; import './a.ts'; import 'node:fs'; import 'undici';",
    'b.ts': "const c = await import('./c.json');",
    'c.json': '{}',
    'types.ts': '',
    'other.ts': '',
  });
  const hash = async () => (await moduleHash(project, 'agent.ts')).sha256;
  const before = await hash();
  await change(project, { 'types.ts': 'export type T = 1;', 'other.ts': '1;' });
  assert.equal(await hash(), before);
  const seen = new Set([before]);
  for (const file of ['c.json', 'b.ts', 'lib/a.ts', 'agent.ts']) {
    await change(project, { [file]: '' });
    seen.add(await hash());
  }
  assert.equal(seen.size, 5);
});

test('a copy of the project elsewhere, or one whose files are links, has the same hash', async (context) => {
  const project = await aProject(context, { 'agent.ts': "import './lib/a.ts';", 'lib/a.ts': '' });
  const copy = join(dirname(project), 'copy');
  await cp(project, join(copy, '..data'), { recursive: true });
  await symlink('..data/agent.ts', join(copy, 'agent.ts'));
  await symlink('..data/lib', join(copy, 'lib'));
  assert.deepEqual(await moduleHash(copy, 'agent.ts'), await moduleHash(project, 'agent.ts'));
});

test('every missing file is named, with the file that imports it', async (context) => {
  const project = await aProject(context, { 'agent.ts': "import './gone.ts';\nimport './lib/gone.ts';" });
  await assert.rejects(moduleHash(project, 'agent.ts'), {
    name: 'UsageError',
    message:
      'agent.ts: it imports gone.ts, which is not there\nagent.ts: it imports lib/gone.ts, which is not there',
  });
  await assert.rejects(moduleHash(project, 'none.ts'), { message: 'the module none.ts is not there' });
});

test('a folder is not a module', async (context) => {
  const project = await aProject(context, { 'lib/a.ts': '' });
  await assert.rejects(moduleHash(project, 'lib'), { message: 'the module lib is not a file' });
});

test('files outside the project are refused, also behind a link', async (context) => {
  const project = await aProject(context, { 'agent.ts': "import '../secret.ts';", '../secret.ts': '' });
  await symlink('../secret.ts', join(project, 'link.ts'));
  const outside = /which is outside the project|^the module .* is outside the project/;
  for (const file of ['agent.ts', 'link.ts', '../secret.ts', join(dirname(project), 'secret.ts')]) {
    await assert.rejects(moduleHash(project, file), { name: 'UsageError', message: outside });
  }
});

for (const [text, found] of [
  ["import './a.ts'", ['./a.ts']],
  ['import {\n  a,\n  b,\n} from "../b.ts";', ['../b.ts']],
  ["import a from './a.ts';import * as b from './b.ts'", ['./a.ts', './b.ts']],
  ["export * from './a.ts'\nexport { b } from './b.ts'", ['./a.ts', './b.ts']],
  ["import { type A, b } from './a.ts'", ['./a.ts']],
  ["import type from './a.ts'", ['./a.ts']],
  ["import typeface from './a.ts'", ['./a.ts']],
  ["import type { A } from './t.ts'\nimport type B from './t.ts'\nexport type { C } from './t.ts'", []],
  ["import d from './d.json' with { type: 'json' }", ['./d.json']],
  ["const a = await import('./a.ts?x=1')", ['./a.ts']],
  ["import fs from 'node:fs'\nimport p from 'package'", []],
  ["// import './t.ts'\n/* import './t.ts' */ const u = 'http://x'; import('./a.ts')", ['./a.ts']],
  ["const r = /['\"]/\nimport './a.ts'", ['./a.ts']],
  ["export const from = './t.ts'\nexport default './t.ts'", []],
] as const) {
  test(`what is imported is found in ${JSON.stringify(text)}`, () => {
    assert.deepEqual(relativeImports(text), found);
  });
}
