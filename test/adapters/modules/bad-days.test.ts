import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModuleRef } from '../../../domain/sweep-spec.ts';
import { isFault } from '../target-parts.ts';
import { openProject, type Project } from './project.ts';

const badCode = `
  export const add = ({ a, b }) => a + b;
  export const loop = () => { for (;;); };
  export const hang = () => new Promise(() => {});
  export const exit = () => process.exit(3);
  export const hoard = () => { const all = []; for (;;) all.push({ a: { b: 1 } }); };
  export const buffers = () => { const all = []; for (;;) all.push(Buffer.alloc(1e6, 1)); };
  export const leak = () => { Promise.reject(new Error('nobody waits')); setTimeout(() => { throw new Error('late'); }); return new Promise((done) => setTimeout(done, 20, 'went on')); };
  export const deep = () => { const down = () => down() + 1; return down(); };
  let waiting;
  export const wait = () => new Promise((done) => { waiting = done; });
  export const isWaiting = () => waiting !== undefined;
  export const release = () => { waiting?.('released'); return waiting !== undefined; };
`;

type Opened = Project & {
  readonly module: ModuleRef;
  call(name: string, timeoutMs?: number): Promise<unknown>;
};

async function open(threads = 1): Promise<Opened> {
  const project = openProject({ threads, memoryMb: 32, pingMs: 300, heldMs: 10_000 });
  const module = await project.write('bad.js', badCode);
  const { signal } = new AbortController();
  const call = (name: string, timeoutMs = 20_000) =>
    project.modules.call(module, name, { a: 1, b: 2 }, { timeoutMs, signal, blame: 'target' });
  return { ...project, module, call };
}

test('while a module loops, the main thread goes on, and the loop is ended', async (t) => {
  const project = await open();
  t.after(project.close);
  await project.call('add');
  let beats = 0;
  const beat = setInterval(() => {
    beats += 1;
  }, 20);
  t.after(() => clearInterval(beat));
  await assert.rejects(
    project.call('loop', 300),
    isFault('timed_out', 'target', ['bad.js loop()', 'without a pause'], true),
  );
  assert.ok(beats > 5, `the main thread's timer fired ${beats} times`);
});

test('after a loop the next call gets a new thread', async (t) => {
  const project = await open();
  t.after(project.close);
  await assert.rejects(project.call('loop', 50), isFault('timed_out', 'target'));
  assert.equal(await project.call('add'), 3);
});

test('a call that shared its thread with a loop is of unknown fate, and is told who looped', async (t) => {
  const project = await open();
  t.after(project.close);
  const waiting = project.call('wait');
  while ((await project.call('isWaiting')) !== true);
  const [waited, looped] = await Promise.allSettled([waiting, project.call('loop', 50)]);
  assert.equal(waited.status, 'rejected');
  assert.equal(looped.status, 'rejected');
  isFault('unavailable', 'target', ['bad.js wait() lost its thread', 'bad.js loop()'], true)(waited.reason);
  isFault('timed_out', 'target', ['bad.js loop()'])(looped.reason);
});

test('where another file loops, the one that shared its thread is not to blame', async (t) => {
  const project = await open();
  t.after(project.close);
  const other = await project.write(
    'other.js',
    'let waits = false; export const isWaiting = () => waits; export const wait = () => { waits = true; return new Promise(() => {}); };',
  );
  const { signal } = new AbortController();
  const ask = (name: string) =>
    project.modules.call(other, name, null, { timeoutMs: 20_000, signal, blame: 'target' });
  const waiting = ask('wait');
  while ((await ask('isWaiting')) !== true);
  const [waited] = await Promise.allSettled([waiting, project.call('loop', 200)]);
  assert.equal(waited.status, 'rejected');
  isFault('unavailable', 'infrastructure', ['other.js wait()', 'bad.js loop()'])(waited.reason);
});

test('a call that waits too long is given up without harm to the others in its thread', async (t) => {
  const project = await open();
  t.after(project.close);
  await project.call('add');
  const waiting = project.call('wait');
  await assert.rejects(
    project.call('hang', 50),
    isFault('timed_out', 'target', ['bad.js hang()', '50 ms'], true),
  );
  assert.equal(await project.call('release'), true);
  assert.equal(await waiting, 'released');
});

test('a call that is cancelled ends with the reason of its caller', async (t) => {
  const project = await open();
  t.after(project.close);
  const caller = new AbortController();
  const options = { timeoutMs: 20_000, signal: caller.signal, blame: 'target' } as const;
  const call = project.modules.call(project.module, 'hang', null, options);
  const reason = new Error('cancelled');
  caller.abort(reason);
  await assert.rejects(call, (error) => error === reason);
});

test('a module that leaves the process ends its thread only', async (t) => {
  const project = await open();
  t.after(project.close);
  await assert.rejects(
    project.call('exit'),
    isFault('module_error', 'target', ['bad.js exit()', 'process.exit(3)']),
  );
  assert.equal(await project.call('add'), 3);
});

for (const name of ['hoard', 'buffers']) {
  test(`a module that takes memory without end (${name}) ends its thread only`, async (t) => {
    const project = await open();
    t.after(project.close);
    await assert.rejects(
      project.call(name),
      isFault('module_error', 'target', [`bad.js ${name}()`, '32 MB']),
    );
    assert.equal(await project.call('add'), 3);
  });
}

test('promises that nobody awaits and errors in timers are printed, and the thread goes on', async (t) => {
  const project = await open();
  t.after(project.close);
  assert.equal(await project.call('leak'), 'went on');
  await project.close();
  assert.match(project.printed.join(''), /unhandled rejection in a module: Error: nobody waits/);
  assert.match(project.printed.join(''), /uncaught exception in a module: Error: late/);
});

test('a recursion without end is an error of its call', async (t) => {
  const project = await open();
  t.after(project.close);
  await assert.rejects(project.call('deep'), isFault('module_error', 'target', ['Maximum call stack']));
});

test('closing ends the calls in flight', async (t) => {
  const project = await open();
  t.after(project.close);
  await project.call('add');
  const waiting = project.call('wait');
  const [waited] = await Promise.allSettled([
    waiting,
    project.call('add').then(() => project.modules.close()),
  ]);
  assert.equal(waited.status, 'rejected');
  isFault('unavailable', 'target', ['was stopped'])(waited.reason);
});
