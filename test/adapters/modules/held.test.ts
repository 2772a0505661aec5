import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openProject } from './project.ts';

/** A function that holds its thread until the file \`go\` is there, and one that does not. */
const code = `
  import { existsSync, writeFileSync } from 'node:fs';
  const here = import.meta.dirname;
  export function hold() {
    writeFileSync(here + '/held', '');
    while (!existsSync(here + '/go'));
    return 'held';
  }
  export const quick = () => 'quick';
  export const isHeld = () => existsSync(here + '/held');
`;

const limits = { timeoutMs: 20_000, signal: new AbortController().signal, blame: 'target' } as const;

async function openHeld(threads: number) {
  const project = openProject({ threads });
  const module = await project.write('held.ts', code);
  return {
    ...project,
    call: (name: string, more = {}) => project.modules.callSeated(module, name, null, { ...limits, ...more }),
    release: () => writeFileSync(join(project.folder, 'go'), ''),
  };
}

for (const threads of [1, 2]) {
  test(`while a call holds one of ${threads} threads, calls that come later have their answers`, async (t) => {
    const { call, release, close } = await openHeld(threads);
    t.after(close);
    await call('quick');
    const held = call('hold');
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('quick')));
    assert.deepEqual(new Set(answers.map((answer) => 'value' in answer && answer.value)), new Set(['quick']));
    release();
    assert.equal((await held).kind, 'answer');
  });
}

test('sessions have threads of their own as long as there are some', async (t) => {
  const { call, close } = await openHeld(2);
  t.after(close);
  const opened = [];
  for (let count = 0; count < 9; count += 1) opened.push(await call('quick', { session: 'opens' }));
  const seats = opened.map((answer) => (answer.kind === 'answer' ? answer.seat : 0));
  assert.equal(new Set(seats).size, 8);
});

test('a session in another thread than the held one has its answers', async (t) => {
  const { call, release, close } = await openHeld(2);
  t.after(close);
  const [one, other] = await Promise.all([
    call('quick', { session: 'opens' }),
    call('quick', { session: 'opens' }),
  ]);
  assert.ok(one.kind === 'answer' && other.kind === 'answer' && one.seat !== other.seat);
  const held = call('hold', { seat: one.seat });
  const answer = await call('quick', { seat: other.seat });
  assert.equal(answer.kind === 'answer' && answer.value, 'quick');
  release();
  await held;
});
