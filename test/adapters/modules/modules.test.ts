import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Fault } from '../../../domain/fault.ts';
import { isFault } from '../target-parts.ts';
import { openProject } from './project.ts';

const options = (timeoutMs = 20_000) =>
  ({ timeoutMs, signal: new AbortController().signal, blame: 'target' }) as const;

test('a TypeScript function answers, sync or async, with its imports', async (t) => {
  const project = openProject();
  t.after(project.close);
  await project.write('words.ts', 'export const greet = (name: string): string => `hi ${name}`;');
  const module = await project.write(
    'a.ts',
    `import { greet } from './words.ts';
     export default ({ name }: { name: string }) => ({ text: greet(name), gone: undefined });
     export async function later(input: number): Promise<number> { return input + 1; }
     export const nothing = () => {};`,
  );
  const { modules } = project;
  assert.deepEqual(await modules.call(module, 'default', { name: 'Ada' }, options()), { text: 'hi Ada' });
  assert.equal(await modules.call(module, 'later', 1, options()), 2);
  assert.equal(await modules.call(module, 'nothing', null, options()), undefined);
});

test('state persists between the calls of a thread, and two modules do not share it', async (t) => {
  const project = openProject({ threads: 1 });
  t.after(project.close);
  const text = 'let calls = 0; export const count = () => (calls += 1);';
  const [a, b] = [await project.write('a.ts', text), await project.write('b.ts', text)];
  const count = (module: typeof a) => project.modules.call(module, 'count', null, options());
  assert.deepEqual([await count(a), await count(a), await count(b)], [1, 2, 1]);
});

test('what a module prints does not go to standard output', async (t) => {
  const project = openProject();
  t.after(project.close);
  const module = await project.write(
    'a.ts',
    'export const say = () => { console.log("to out"); console.error("to err"); };',
  );
  await project.modules.call(module, 'say', null, options());
  await project.close();
  assert.match(project.printed.join(''), /to out/);
  assert.match(project.printed.join(''), /to err/);
});

test('an error carries the stack of the user code, with paths inside the project', async (t) => {
  const project = openProject();
  t.after(project.close);
  const module = await project.write(
    'a.ts',
    '\nexport function reply() {\n  throw new TypeError("boom");\n}\n',
  );
  await assert.rejects(project.modules.call(module, 'reply', null, options()), (error) => {
    assert.ok(error instanceof Fault && !error.message.includes(project.folder));
    assert.ok(!error.message.includes('node:internal') && !error.message.includes('thread.ts'));
    return isFault('module_error', 'target', ['a.ts reply() threw TypeError: boom', 'a.ts:3:9'])(error);
  });
});

test('a thrown value that is no error is shown', async (t) => {
  const project = openProject();
  t.after(project.close);
  const module = await project.write('a.ts', 'export const f = () => { throw { code: 7 }; };');
  const call = project.modules.call(module, 'f', null, options());
  await assert.rejects(call, isFault('module_error', 'target', ['{ code: 7 }']));
});

test('the blame is the one that the caller gives', async (t) => {
  const project = openProject();
  t.after(project.close);
  const module = await project.write('a.ts', 'export const f = () => { throw new Error("x"); };');
  const call = project.modules.call(module, 'f', null, { ...options(), blame: 'judge' });
  await assert.rejects(call, isFault('module_error', 'judge'));
});

const notJson: readonly (readonly [string, string, string])[] = [
  ['a function', '() => ({ a: [() => 1] })', 'the answer.a[0] is a function'],
  ['a BigInt', '() => ({ n: 1n })', 'the answer.n is a bigint'],
  ['NaN', '() => NaN', 'the answer is NaN'],
  ['a cycle', '() => { const a = {}; a.a = a; return a; }', 'the answer.a contains itself'],
  ['a hole in a list', '() => [1, undefined]', 'the answer[1] is undefined'],
  ['a map', '() => new Map()', 'the answer is a Map'],
];
for (const [title, code, message] of notJson) {
  test(`${title} in an answer is said`, async (t) => {
    const project = openProject();
    t.after(project.close);
    const module = await project.write('a.js', `export const f = ${code};`);
    const call = project.modules.call(module, 'f', null, options());
    await assert.rejects(call, isFault('module_error', 'target', [message]));
  });
}

const unloadable: readonly (readonly [string, string, 'invalid_request' | 'not_found', readonly string[]])[] =
  [
    [
      'an enum',
      '\nenum Color { Red }\nexport const f = () => Color.Red;',
      'invalid_request',
      ['a.ts:2', 'as const'],
    ],
    ['a syntax error', 'export const f = () =>\n  1 +;', 'invalid_request', ['a.ts:2']],
    ['a missing package', 'import "no-such-package";', 'not_found', ['no-such-package']],
    ['a missing export', 'export const g = 1, h = 2;', 'not_found', ['no function "f"', 'g, h']],
  ];
for (const [title, text, code, says] of unloadable) {
  test(`${title} is a matter of configuration`, async (t) => {
    const project = openProject();
    t.after(project.close);
    const module = await project.write('a.ts', text);
    const call = project.modules.call(module, 'f', null, options());
    await assert.rejects(call, isFault(code, 'configuration', says));
  });
}

test('a module that throws while it is loaded is at fault itself', async (t) => {
  const project = openProject();
  t.after(project.close);
  const module = await project.write('a.ts', 'throw new Error("no database");');
  const call = project.modules.call(module, 'f', null, options());
  await assert.rejects(call, isFault('module_error', 'target', ['no database', 'a.ts:1']));
});

test('a missing module is found missing', async (t) => {
  const project = openProject();
  t.after(project.close);
  const proof = project.modules.prove({ file: 'gone.ts', sha256: '0' });
  await assert.rejects(proof, isFault('not_found', 'configuration', ['gone.ts']));
});

test('a module of other content than planned is not run', async (t) => {
  const project = openProject();
  t.after(project.close);
  const module = await project.write('a.ts', 'export const f = () => 1;');
  await project.write('a.ts', 'export const f = () => 2;');
  const call = project.modules.call(module, 'f', null, options());
  await assert.rejects(call, isFault('invalid_request', 'configuration', ['a.ts', 'other content']));
});

test('a link that leads out of the project is not followed', async (t) => {
  const project = openProject();
  const outside = join(tmpdir(), `regatta-outside-${process.pid}.ts`);
  t.after(project.close);
  writeFileSync(outside, 'export const f = () => 1;');
  symlinkSync(outside, join(project.folder, 'link.ts'));
  const call = project.modules.call({ file: 'link.ts', sha256: '0' }, 'f', null, options());
  await assert.rejects(call, isFault('not_found', 'configuration', ['link.ts', 'outside']));
});

test('a sweep planned after a change runs the new content', async (t) => {
  const project = openProject();
  t.after(project.close);
  const before = await project.write('a.ts', 'export const f = () => 1;');
  assert.equal(await project.modules.call(before, 'f', null, options()), 1);
  const after = await project.write('a.ts', 'export const f = () => 2;');
  assert.equal(await project.modules.call(after, 'f', null, options()), 2);
});
