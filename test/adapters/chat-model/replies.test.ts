import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Json } from '../../../domain/json.ts';
import { benchOf, completion, inTurn, say } from './model-server.ts';

async function textOf(message: Json): Promise<string> {
  const bench = await benchOf(say(completion(message)));
  return (await bench.chat()).text;
}

const texts: readonly (readonly [title: string, message: Json, text: string])[] = [
  ['a plain text', { content: 'hi' }, 'hi'],
  [
    'a list of parts',
    {
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    'ab',
  ],
  [
    'a part that is a thought',
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
        { type: 'text', text: 'b' },
      ],
    },
    'b',
  ],
  ['a thought in a field of its own', { content: 'hi', reasoning_content: 'hm', reasoning: 'hm' }, 'hi'],
  ['a thought at the start of the text', { content: '<think>hm\n\nhm</think>\n\nhi' }, 'hi'],
  ['two thoughts at the start', { content: '<think>a</think> <think>b</think>hi' }, 'hi'],
  ['a thought that was begun in the prompt', { content: 'hm</think>\nhi' }, 'hi'],
  [
    'a mark in the middle of a text',
    { content: 'write <think> like </think> this' },
    'write <think> like </think> this',
  ],
  ['a refusal in a field of its own', { content: null, refusal: 'I cannot' }, 'I cannot'],
];
for (const [title, message, text] of texts) {
  test(`the text of a reply: ${title}`, async () => assert.equal(await textOf(message), text));
}

const empties: readonly (readonly [title: string, message: Json])[] = [
  ['null text', { content: null }],
  ['empty text', { content: '  ' }],
  ['nothing but a thought', { content: '<think>hm</think>' }],
  ['a thought that never ends', { content: '<think>hm' }],
  ['an empty list of tool calls', { content: '', tool_calls: [] }],
  ['no message', null],
];
for (const [title, message] of empties) {
  test(`a reply with neither text nor tool calls is bad_reply: ${title}`, async () => {
    const bench = await benchOf(say(completion(message)));
    assert.equal((await bench.fault()).code, 'bad_reply');
  });
}

const call = (args: Json, more = {}): Json => ({
  id: 'a',
  type: 'function',
  function: { name: 'find', arguments: args },
  ...more,
});
const argsTable: readonly (readonly [title: string, args: Json, parsed: Json | undefined])[] = [
  ['text', '{"id":7}', { id: 7 }],
  ['an object', { id: 7 }, { id: 7 }],
  ['empty', '', {}],
  ['null', null, {}],
  ['encoded twice', '"{\\"id\\":7}"', { id: 7 }],
  ['cut off', '{"id":', undefined],
  ['not an object', '[1]', undefined],
];
for (const [title, args, parsed] of argsTable) {
  test(`the arguments of a tool call: ${title}`, async () => {
    const bench = await benchOf(say(completion({ content: null, tool_calls: [call(args)] })));
    const [asked] = (await bench.chat()).toolCalls;
    assert.equal(asked?.name, 'find');
    assert.deepEqual(asked?.args, parsed);
  });
}

test('the list of tool calls counts, not the finish reason', async () => {
  const bench = await benchOf(say(completion({ content: null, tool_calls: [call('{}')] })));
  assert.equal((await bench.chat()).toolCalls.length, 1);
});

test('missing and doubled ids of tool calls are replaced by own ones', async () => {
  const calls = [call('{}'), call('{}'), call('{}', { id: null }), call('{}', { id: '' })];
  const bench = await benchOf(say(completion({ content: null, tool_calls: calls })));
  const ids = (await bench.chat()).toolCalls.map((asked) => asked.id);
  assert.equal(ids[0], 'a');
  assert.equal(new Set(ids).size, 4);
  assert.ok(ids.slice(1).every((id) => /^[a-z0-9]{9}$/.test(id)));
});

test('a function call of the older form is a tool call', async () => {
  const bench = await benchOf(
    say(completion({ content: null, function_call: { name: 'find', arguments: '{}' } })),
  );
  assert.equal((await bench.chat()).toolCalls[0]?.name, 'find');
});

const usages: readonly (readonly [
  title: string,
  usage: Json,
  input: number,
  output: number,
  estimated: boolean,
])[] = [
  ['numbers', { prompt_tokens: 7, completion_tokens: 3 }, 7, 3, false],
  ['other names', { input_tokens: 7, output_tokens: 3 }, 7, 3, false],
  ['numbers as text', { prompt_tokens: '7', completion_tokens: '3' }, 7, 3, false],
  ['one missing beside the total', { prompt_tokens: 7, total_tokens: 10 }, 7, 3, false],
  ['null', null, 6, 3, true],
  ['words', 'unknown', 6, 3, true],
  ['zeros', { prompt_tokens: 0, completion_tokens: 0 }, 6, 3, true],
  ['not numbers', { prompt_tokens: 'n/a', completion_tokens: -1 }, 6, 3, true],
];
for (const [title, usage, inputTokens, outputTokens, estimated] of usages) {
  test(`usage is never free and always a number: ${title}`, async () => {
    const price = { input: 1, output: 2 };
    const bench = await benchOf(say(completion({ content: 'ten letters' }, { usage })), { price });
    const reply = await bench.chat();
    assert.deepEqual(reply.usage, { inputTokens, outputTokens, estimated });
    assert.equal(reply.costUsd, (inputTokens + 2 * outputTokens) / 1e6);
  });
}

const badBodies: readonly (readonly [title: string, body: string])[] = [
  ['no JSON', '<html>welcome</html>'],
  ['nothing', ''],
  ['JSON without a completion', '{"status":"ok"}'],
  ['no choices', '{"choices":[]}'],
  ['an error', '{"error":{"message":"boom"}}'],
  ['cut off JSON', '{"choices":[{"message":{"content":"h'],
];
for (const [title, body] of badBodies) {
  test(`a 200 without a completion is bad_reply: ${title}`, async () => {
    const fault = await (await benchOf(say(body))).fault();
    assert.equal(fault.code, 'bad_reply');
    assert.equal(fault.blame, 'infrastructure');
  });
}

test('a body that cannot be decoded is bad_reply', async () => {
  const broken = await benchOf((response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
  );
  assert.equal((await broken.fault()).code, 'bad_reply');
  const latin = await benchOf((response) =>
    response.end(Buffer.from('{"choices":[{"message":{"content":"é"}}]}', 'latin1')),
  );
  assert.equal((await latin.fault()).code, 'bad_reply');
});

test('a compressed body and one with a byte order mark are read', async () => {
  const body = `\uFEFF${JSON.stringify(completion({ content: 'hi' }))}`;
  const bench = await benchOf((response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body)),
  );
  assert.equal((await bench.chat()).text, 'hi');
});

test('a redirect is bad_reply and is not followed', async () => {
  const bench = await benchOf(
    inTurn(say('', 307, { location: '/v1/elsewhere' }), say(completion({ content: 'hi' }))),
  );
  assert.equal((await bench.fault()).code, 'bad_reply');
  assert.equal(bench.seen.length, 1);
});

test('a message of more than 256 KB is too_large', async () => {
  const bench = await benchOf(say(completion({ content: 'x'.repeat(256 * 1024 + 1) })));
  assert.equal((await bench.fault()).code, 'too_large');
});

test('a message of 256 KB is taken', async () => {
  assert.equal((await textOf({ content: 'x'.repeat(256 * 1024) })).length, 256 * 1024);
});

test('a body without end is not read to its end', async () => {
  const bench = await benchOf((response) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const pour = (): void => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', pour);
    };
    pour();
  });
  assert.equal((await bench.fault()).code, 'too_large');
});

const stream = (...events: readonly string[]) =>
  say(events.join(''), 200, { 'content-type': 'text/event-stream' });
const data = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (value: Json, reason: Json = null): string =>
  data({ choices: [{ delta: value, finish_reason: reason }] });

test('a stream that nobody asked for is read, also without its stop mark', async () => {
  const usage = data({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } });
  const bench = await benchOf(
    stream(': hello\n\n', delta({ content: 'good ' }), delta({ content: 'day' }, 'stop'), usage),
  );
  const reply = await bench.chat();
  assert.equal(reply.text, 'good day');
  assert.equal(reply.usage.inputTokens, 7);
});

test('the pieces of tool calls in a stream are put together', async () => {
  const piece = (index: number, part: Json, more = {}): string =>
    delta({ tool_calls: [{ index, function: part, ...more }] });
  const bench = await benchOf(
    stream(
      piece(0, { name: 'find', arguments: '{"id"' }, { id: 'a' }),
      piece(1, { name: 'end', arguments: '' }, { id: 'b' }),
      piece(0, { arguments: ':7}' }),
      'data: [DONE]\n\n',
    ),
  );
  const { toolCalls } = await bench.chat();
  assert.deepEqual(
    toolCalls.map(({ id, name, args }) => ({ id, name, args })),
    [
      { id: 'a', name: 'find', args: { id: 7 } },
      { id: 'b', name: 'end', args: {} },
    ],
  );
});

test('a stream with an error event is bad_reply', async () => {
  const bench = await benchOf(
    stream(delta({ content: 'good ' }), 'event: error\ndata: {"message":"overloaded"}\n\n'),
  );
  assert.equal((await bench.fault()).code, 'bad_reply');
});

test('a stream that breaks off is bad_reply', async () => {
  const bench = await benchOf((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(delta({ content: 'good ' }), () => response.destroy());
  });
  assert.equal((await bench.fault()).code, 'bad_reply');
});
