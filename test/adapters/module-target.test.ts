import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../../activities/ports.ts';
import { createModuleTarget } from '../../adapters/module-target.ts';
import { createTurnstile } from '../../adapters/turnstile.ts';
import { openProject, type Project } from './modules/project.ts';
import { aCall, aMessage, isFault, options } from './target-parts.ts';

async function openTarget(text: string): Promise<Project & { readonly target: Target }> {
  const project = openProject({ pingMs: 300 });
  const module = await project.write('desk.ts', text);
  const parts = { modules: project.modules, turnstile: createTurnstile() };
  return { ...project, target: createModuleTarget({ kind: 'module', module }, parts) };
}

test('a reply sees messages, scenario and key', async (t) => {
  const { target, close } = await openTarget(
    'export const reply = (asked: unknown) => JSON.stringify(asked);',
  );
  t.after(close);
  const call = aCall({
    transcript: [aMessage('driver', 'a'), aMessage('target', 'b'), aMessage('driver', 'c')],
  });
  const { text } = await target.reply(call, options());
  assert.deepEqual(JSON.parse(text), {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
    ],
    scenario: { id: 'row', input: { name: 'Ada' }, tags: [], meta: {} },
    key: 'sweep/row/1/0/1',
  });
});

test('a reply may bring tool calls, metadata and the end', async (t) => {
  const { target, close } = await openTarget(
    'export const reply = () => ({ text: "bye", toolCalls: [{ name: "f", args: { a: 1 } }], metadata: { m: 1 }, end: true });',
  );
  t.after(close);
  const { ms, ...reply } = await target.reply(aCall(), options());
  assert.deepEqual(reply, {
    text: 'bye',
    toolCalls: [{ name: 'f', args: { a: 1 } }],
    metadata: { m: 1 },
    end: true,
  });
  assert.ok(ms > 0);
});

test('without start there are no sessions', async (t) => {
  const { target, close } = await openTarget('export const reply = () => "hi";');
  t.after(close);
  const started = await target.start(aCall(), options());
  assert.deepEqual(Object.keys(started), ['ms']);
  assert.equal(target.sessions, false);
});

const withMemory = `
  const sessions = new Map<string, number>();
  let opened = 0;
  export function start(scenario: { input: { name: string } }) {
    opened += 1;
    sessions.set('s' + opened, 0);
    return { sessionId: 's' + opened, reply: 'Welcome, ' + scenario.input.name };
  }
  export async function reply({ sessionId }: { sessionId: string }) {
    sessions.set(sessionId, (sessions.get(sessionId) ?? NaN) + 1);
    await new Promise((done) => setTimeout(done, 5));
    return sessionId + ':' + sessions.get(sessionId);
  }
  export function end(sessionId: string) {
    if (!sessions.delete(sessionId)) throw new Error('no session ' + sessionId);
  }
`;

test('every session is answered by the thread that opened it', async (t) => {
  const { target, close } = await openTarget(withMemory);
  t.after(close);
  const started = await Promise.all([1, 2, 3, 4].map(() => target.start(aCall(), options())));
  const ids = started.map(({ sessionId }) => sessionId ?? '');
  assert.equal(new Set(ids).size, 4);
  assert.ok(new Set(ids.map((id) => id.split('.').at(-1))).size > 1, 'more than one thread was used');
  const replies = await Promise.all(ids.map((sessionId) => target.reply(aCall({ sessionId }), options())));
  assert.deepEqual(
    replies.map(({ text }) => text),
    ids.map((id) => `${id.split('@')[0]}:1`),
  );
  await Promise.all(ids.map((sessionId) => target.end(aCall({ sessionId }), options())));
  assert.equal(started[0]?.greeting?.text, 'Welcome, Ada');
});

test('a session of another process is lost, and closing it is fine', async (t) => {
  const one = await openTarget(withMemory);
  const other = await openTarget(withMemory);
  t.after(() => one.close().then(other.close));
  const { sessionId = '' } = await one.target.start(aCall(), options());
  const call = aCall({ sessionId });
  await assert.rejects(
    other.target.reply(call, options()),
    isFault('lost_session', 'infrastructure', ['process']),
  );
  await other.target.end(call, options());
});

test('a session of a thread that was stopped is lost', async (t) => {
  const { target, close } = await openTarget(
    'export const start = () => "s"; export const reply = () => process.exit(1);',
  );
  t.after(close);
  const { sessionId = '' } = await target.start(aCall(), options());
  await assert.rejects(target.reply(aCall({ sessionId }), options()), isFault('module_error', 'target'));
  await assert.rejects(
    target.reply(aCall({ sessionId }), options()),
    isFault('lost_session', 'target', ['desk.ts']),
  );
});

test('a session that a reply opens belongs to its thread, too', async (t) => {
  const { target, close } = await openTarget(
    'export const reply = ({ sessionId = "new" }) => ({ text: sessionId, sessionId });',
  );
  t.after(close);
  const { sessionId = '' } = await target.reply(aCall(), options());
  assert.match(sessionId, /^new@/);
  const again = await target.reply(aCall({ sessionId }), options());
  assert.deepEqual([again.text, again.sessionId], ['new', sessionId]);
});

const garbage: readonly (readonly [string, string])[] = [
  ['a number', '3'],
  ['nothing', 'undefined'],
  ['empty text', '"  "'],
  ['a tool call without a name', '({ text: "x", toolCalls: [{}] })'],
];
for (const [title, value] of garbage) {
  test(`${title} is a bad reply`, async (t) => {
    const { target, close } = await openTarget(`export const reply = () => ${value};`);
    t.after(close);
    await assert.rejects(
      target.reply(aCall(), options()),
      isFault('bad_reply', 'target', ['desk.ts reply()']),
    );
  });
}

test('a reply of 300 KB is too large', async (t) => {
  const { target, close } = await openTarget('export const reply = () => "x".repeat(300 * 1024);');
  t.after(close);
  await assert.rejects(target.reply(aCall(), options()), isFault('too_large', 'target'));
});

test('a module without reply is a matter of configuration', async (t) => {
  const { target, close } = await openTarget('export const answer = () => "x";');
  t.after(close);
  await assert.rejects(target.reply(aCall(), options()), isFault('not_found', 'configuration', ['"reply"']));
});
