import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { HttpSend, StreamRule } from '../../../domain/sweep-spec.ts';
import { aCall, isFault, openLoopback, options } from '../target-parts.ts';
import { aRequest, aSend, openTarget } from './open-target.ts';

const events = (...payloads: readonly unknown[]) =>
  payloads
    .map((payload) => `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`)
    .join('');
const lines = (...values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

type Row = {
  readonly title: string;
  readonly body: string;
  readonly type?: string;
  readonly stop?: readonly StreamRule[];
  readonly select?: readonly StreamRule[];
  readonly send?: Partial<HttpSend>;
  readonly text: string;
};

const whole = [{ t: 'a' }, { t: 'b' }];
const done = { value: '[DONE]' };
const final = { path: 'response.is_final', value: 'TRUE' };
const rows: readonly Row[] = [
  { title: 'events with their type', body: events(...whole), type: 'text/event-stream', text: 'ab' },
  { title: 'events by their looks', body: `: hi\n\n${events(...whole)}`, type: 'text/plain', text: 'ab' },
  { title: 'JSON lines with their type', body: lines(...whole), type: 'application/x-ndjson', text: 'ab' },
  { title: 'JSON lines by their looks', body: `\n${lines(...whole)}`, text: 'ab' },
  { title: 'lines that end with CR LF', body: events(...whole).replaceAll('\n', '\r\n'), text: 'ab' },
  { title: 'an event of two data lines', body: 'data: {"t":\ndata: "ab"}\n\n', text: 'ab' },
  { title: 'a last event without its blank line', body: events(...whole).trimEnd(), text: 'ab' },
  { title: 'a stream without its stop mark', body: events(...whole), stop: [done], text: 'ab' },
  {
    title: 'a raw stop, before JSON is read',
    body: events(...whole, 'STOP', { t: 'c' }),
    stop: [{ value: 'STOP' }],
    text: 'ab',
  },
  { title: '[DONE], which always ends a stream', body: events(...whole, '[DONE]', { t: 'c' }), text: 'ab' },
  {
    title: 'any of several stops',
    body: events({ t: 'a' }, { t: 'b', is_final: true }, { t: 'c' }),
    stop: [done, final],
    text: 'ab',
  },
  {
    title: 'text "true", which is not the boolean',
    body: lines({ t: 'a', is_final: 'true' }, { t: 'b' }),
    stop: [final],
    text: 'ab',
  },
  {
    title: 'a stop on presence, where null is absent',
    body: lines({ t: 'a', end: null }, { t: 'b', end: 0 }, { t: 'c' }),
    stop: [{ path: 'end', value: '*' }],
    text: 'ab',
  },
  {
    title: 'a stop on exact text',
    body: lines({ t: 'a', why: 'stopped' }, { t: 'b', why: 'stop' }, { t: 'c' }),
    stop: [{ path: 'why', value: 'stop' }],
    text: 'ab',
  },
  {
    title: 'chunks that meet all of two selects',
    body: lines({ t: 'x', role: 'user', n: 1 }, { t: 'a', role: 'bot', n: 1 }, { t: 'y', role: 'bot', n: 2 }),
    select: [
      { path: 'response.role', value: 'bot' },
      { path: 'n', value: '1' },
    ],
    text: 'a',
  },
  {
    title: 'one JSON value over several lines',
    body: JSON.stringify({ t: 'ab' }, null, 2),
    type: 'application/json',
    text: 'ab',
  },
  {
    title: 'plain text, where the whole answer is asked for',
    body: 'data: Hel\n\ndata: lo\n\n',
    send: { reply: 'response' },
    text: 'Hello',
  },
  {
    title: 'chunks with an index in their path',
    body: events({ choices: [{ delta: { content: 'a' } }] }, { choices: [] }),
    send: { reply: 'response.choices[0].delta.content' },
    text: 'a',
  },
];

async function openStreaming(answer: (response: ServerResponse) => void, send: Partial<HttpSend> = {}) {
  const loopback = await openLoopback((_, response) => answer(response));
  const target = openTarget({
    send: aSend(loopback.url, {
      reply: 'response.t',
      streaming: { kind: 'rules', stop: [], select: [] },
      ...send,
    }),
  });
  return { target, loopback, close: () => target.close().then(loopback.close) };
}

for (const {
  title,
  body,
  type = 'application/octet-stream',
  stop = [],
  select = [],
  send = {},
  text,
} of rows) {
  test(`a stream is read: ${title}`, async (t) => {
    const { target, close } = await openStreaming(
      (response) => response.writeHead(200, { 'content-type': type }).end(body),
      { streaming: { kind: 'rules', stop, select }, ...send },
    );
    t.after(close);
    assert.equal((await target.reply(aCall(), options())).text, text);
  });
}

test('a stop ends the call, though the server would go on', async (t) => {
  const { target, close } = await openStreaming(
    (response) => void response.writeHead(200).write(lines({ t: 'a', is_final: true })),
    { streaming: { kind: 'rules', stop: [final], select: [] } },
  );
  t.after(close);
  assert.equal((await target.reply(aCall(), options())).text, 'a');
});

test('a character that is cut between two packets stays whole', async (t) => {
  const bytes = Buffer.from(lines({ t: 'ä€😀' }));
  const { target, close } = await openStreaming((response) => {
    response.writeHead(200);
    for (const byte of bytes) response.write(Buffer.from([byte]));
    response.end();
  });
  t.after(close);
  assert.equal((await target.reply(aCall(), options())).text, 'ä€😀');
});

test('session id, metadata and tool calls come from any chunk, also from one that is not selected', async (t) => {
  const { target, close } = await openStreaming(
    (response) =>
      response.end(
        events(
          { id: 's1', calls: [{ name: 'f', args: { a: 1 } }] },
          { t: 'x', role: 'bot' },
          { usage: { n: 3 } },
          {
            calls: [{ name: 'g' }],
          },
        ),
      ),
    {
      sessionId: 'id',
      metadata: 'usage',
      toolCalls: 'calls',
      streaming: { kind: 'rules', stop: [], select: [{ path: 'role', value: 'bot' }] },
    },
  );
  t.after(close);
  const { ms: _, ...reply } = await target.reply(aCall(), options());
  assert.deepEqual(reply, {
    text: 'x',
    sessionId: 's1',
    metadata: { n: 3 },
    toolCalls: [{ name: 'f', args: { a: 1 } }, { name: 'g' }],
  });
});

test('a tool call that is cut into pieces of one index is put together', async (t) => {
  const piece = (part: unknown) => ({ c: [{ index: 0, function: part }] });
  const { target, close } = await openStreaming(
    (response) =>
      response.end(
        events(
          piece({ name: 'f', arguments: '' }),
          piece({ arguments: '{"a"' }),
          piece({ arguments: ':1}' }),
        ),
      ),
    { toolCalls: 'c' },
  );
  t.after(close);
  assert.deepEqual((await target.reply(aCall(), options())).toolCalls, [{ name: 'f', args: { a: 1 } }]);
});

test('a greeting may come as a stream', async (t) => {
  const loopback = await openLoopback((_, response) =>
    response.end(events({ t: 'Hel', id: 7 }, { t: 'lo' })),
  );
  const streaming = { kind: 'rules', stop: [], select: [] } as const;
  const target = openTarget({
    start: aRequest({ url: loopback.url, sessionId: 'id', greeting: 't', streaming }),
    send: aSend(loopback.url),
  });
  t.after(() => target.close().then(loopback.close));
  const { sessionId, greeting } = await target.start(aCall(), options());
  assert.deepEqual([sessionId, greeting?.text], ['7', 'Hello']);
});

const broken: readonly (readonly [string, string, readonly string[]])[] = [
  ['an event that is no JSON', 'data: {"t":\n\n', ['streamed what is not JSON', '{"t":']],
  ['a line that is no JSON', '{"t":"a"}\n{"t"\n', ['streamed what is not JSON']],
  ['an error event', 'event: error\ndata: {"message":"no"}\n\n', ['streamed an error', '"no"']],
  ['no text in any chunk', '{"x":1}\n', ['without response.t in any chunk']],
  ['an empty body', '', ['without response.t']],
];
for (const [title, body, says] of broken) {
  test(`a stream with ${title} is a bad reply of the target`, async (t) => {
    const { target, close } = await openStreaming((response) => response.end(body));
    t.after(close);
    await assert.rejects(target.reply(aCall(), options()), isFault('bad_reply', 'target', says));
  });
}

test('a stream that breaks off is unavailable, of unknown fate', async (t) => {
  const { target, close } = await openStreaming((response) => {
    response.writeHead(200, { 'content-length': '1000' }).write(lines({ t: 'a' }));
    setImmediate(() => response.destroy());
  });
  t.after(close);
  await assert.rejects(target.reply(aCall(), options()), isFault('unavailable', 'target', [], true));
});

test('the status of a stream is looked at first', async (t) => {
  const { target, close } = await openStreaming((response) =>
    response.writeHead(503).end(events({ t: 'a' })),
  );
  t.after(close);
  await assert.rejects(target.reply(aCall(), options()), isFault('unavailable', 'target', ['answered 503']));
});

test('a stream that nobody asked for says what to write', async (t) => {
  const loopback = await openLoopback((_, response) => response.end(events({ text: 'a' })));
  const target = openTarget({ send: aSend(loopback.url) });
  t.after(() => target.close().then(loopback.close));
  await assert.rejects(
    target.reply(aCall(), options()),
    isFault('bad_reply', 'target', ['write `streaming: {}`']),
  );
});
