import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCall, isFault, openLoopback, options } from '../target-parts.ts';
import { aSend, openTarget } from './open-target.ts';

type Event = Readonly<Record<string, unknown>>;

/** A chat endpoint that answers with these events. */
async function openChat(...events: readonly Event[]) {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const loopback = await openLoopback((_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body),
  );
  const target = openTarget({
    send: aSend(loopback.url, {
      body: { message: '{latest_message}', threadId: '{session_id}' },
      reply: 'text',
      toolCalls: 'tool_calls',
      sessionId: 'session_id',
      metadata: 'metadata',
      streaming: { kind: 'chat_events' },
    }),
  });
  return { target, loopback, close: () => target.close().then(loopback.close) };
}

const delta = (text: string): Event => ({ type: 'response.output_text.delta', delta: text });
const item = (when: 'added' | 'done', value: Event): Event => ({
  type: `response.output_item.${when}`,
  item: value,
});

test('deltas are appended, and the thread of the answer is the session of the next message', async (t) => {
  const { target, loopback, close } = await openChat(delta('Hel'), delta('lo'), {
    type: 'metadata',
    threadId: 't1',
    traceId: 'tr1',
  });
  t.after(close);
  const reply = await target.reply(aCall(), options());
  assert.deepEqual([reply.text, reply.sessionId, reply.metadata], ['Hello', 't1', { trace_id: 'tr1' }]);
  await target.reply(aCall({ sessionId: 't1' }), options());
  assert.deepEqual(
    loopback.received.map(({ body }) => JSON.parse(body)),
    [{ message: 'hello' }, { message: 'hello', threadId: 't1' }],
  );
});

test('a finished message takes the place of its deltas', async (t) => {
  const content = [{ type: 'output_text', text: 'Hello.' }];
  const { target, close } = await openChat(delta('Hel'), item('done', { type: 'message', content }));
  t.after(close);
  assert.equal((await target.reply(aCall(), options())).text, 'Hello.');
});

test('a function call counts once, with the arguments of its finished item', async (t) => {
  const call = { type: 'function_call', call_id: 'c1', name: 'find' };
  const { target, close } = await openChat(
    item('added', call),
    item('done', { ...call, arguments: '{"order":1}' }),
    item('done', { ...call, call_id: 'c2', arguments: '{"order":' }),
    delta('Found.'),
  );
  t.after(close);
  assert.deepEqual((await target.reply(aCall(), options())).toolCalls, [
    { name: 'find', args: { order: 1 } },
    { name: 'find', args: {} },
  ]);
});

const errors: readonly Event[] = [
  { type: 'error', message: 'quota' },
  { type: 'response.failed', response: { error: 'quota' } },
  { error: 'quota' },
];
for (const event of errors) {
  test(`${JSON.stringify(event)} makes the answer a bad reply of the target`, async (t) => {
    const { target, close } = await openChat(delta('Hel'), event);
    t.after(close);
    const isBad = isFault('bad_reply', 'target', ['streamed an error', 'quota']);
    await assert.rejects(target.reply(aCall(), options()), isBad);
  });
}
