import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatMessage } from '../../../activities/ports.ts';
import { goOnText, nothingText, openingText, toWireMessages } from '../../../adapters/chat-model/messages.ts';
import { benchOf, completion, say } from './model-server.ts';

const hello = say(completion({ content: 'hi' }));

/** Messages in short: `s`, `u`, `a` and `t` with their text. */
function wire(
  ...messages: readonly (readonly [role: 's' | 'u' | 'a', content: string])[]
): readonly string[] {
  const roles = { s: 'system', u: 'user', a: 'assistant' } as const;
  const wired = toWireMessages(
    messages.map(([role, content]): ChatMessage => ({ role: roles[role], content })),
  );
  return wired.map((message) => `${String(message.role)}: ${String(message.content)}`);
}

test('a conversation that begins with the model gets a neutral first user message', () => {
  assert.deepEqual(wire(['s', 'be kind'], ['a', 'hi']), [
    'system: be kind',
    `user: ${openingText}`,
    'assistant: hi',
    `user: ${goOnText}`,
  ]);
});

test('a conversation without messages begins with the neutral user message', () => {
  assert.deepEqual(wire(['s', 'be kind']), ['system: be kind', `user: ${openingText}`]);
});

test('several system messages become one, in front', () => {
  assert.deepEqual(wire(['s', 'one'], ['u', 'hi'], ['s', 'two']), ['system: one\n\ntwo', 'user: hi']);
});

test('an empty system message is left out', () => {
  assert.deepEqual(wire(['s', '  '], ['u', 'hi']), ['user: hi']);
});

test('messages of the same side in a row become one', () => {
  assert.deepEqual(wire(['u', 'a'], ['u', 'b'], ['a', 'c'], ['a', 'd'], ['u', 'e']), [
    'user: a\n\nb',
    'assistant: c\n\nd',
    'user: e',
  ]);
});

test('no empty text is sent', () => {
  assert.deepEqual(wire(['u', ' '], ['a', ''], ['u', 'x']), [
    `user: ${nothingText}`,
    `assistant: ${nothingText}`,
    'user: x',
  ]);
});

test('tool calls are sent with whole arguments, without empty text, and their results follow', () => {
  const messages: readonly ChatMessage[] = [
    { role: 'user', content: 'find it' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: '1', name: 'find', args: { id: 7 }, argsText: '{"id":7}' },
        { id: '2', name: 'find', argsText: '{"id":' },
      ],
    },
    { role: 'tool', toolCallId: '1', content: '' },
    { role: 'tool', toolCallId: '2', content: 'error' },
  ];
  assert.deepEqual(toWireMessages(messages).slice(1), [
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: '1', type: 'function', function: { name: 'find', arguments: '{"id":7}' } },
        { id: '2', type: 'function', function: { name: 'find', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: '1', content: nothingText },
    { role: 'tool', tool_call_id: '2', content: 'error' },
  ]);
});

test('only what was asked for is sent: no empty lists, no default parameters', async () => {
  const bench = await benchOf(hello);
  await bench.chat({ tools: [] });
  assert.deepEqual(bench.seen[0]?.body, { model: 'small-1', messages: [{ role: 'user', content: 'hello' }] });
});

test('tools, the forced tool, the schema of the answer, temperature, seed and the limit of tokens are sent', async () => {
  const bench = await benchOf(hello);
  const schema = { type: 'object' };
  await bench.chat({
    tools: [{ name: 'end', description: 'ends', schema }],
    toolChoice: 'end',
    answerSchema: { name: 'verdict', schema },
    temperature: 0.6,
    seed: 7,
    maxTokens: 16,
  });
  const { messages, ...sent } = bench.seen[0]?.body ?? {};
  assert.deepEqual(sent, {
    model: 'small-1',
    tools: [{ type: 'function', function: { name: 'end', description: 'ends', parameters: schema } }],
    tool_choice: { type: 'function', function: { name: 'end' } },
    response_format: { type: 'json_schema', json_schema: { name: 'verdict', schema, strict: true } },
    temperature: 0.6,
    seed: 7,
    max_tokens: 16,
  });
});

test("a model's written parameters beat those of the request, except its limit of tokens", async () => {
  const bench = await benchOf(hello, { params: { temperature: 1, top_p: 0.5, max_completion_tokens: 4000 } });
  await bench.chat({ temperature: 0.6, temperatureOptional: true, maxTokens: 16 });
  const { messages, model, ...sent } = bench.seen[0]?.body ?? {};
  assert.deepEqual(sent, { temperature: 1, top_p: 0.5, max_tokens: 16 });
});

test('keys and headers are resolved', async () => {
  const bench = await benchOf(hello, { apiKey: `\${KEY}`, headers: { 'X-Team': `team-\${KEY}` } });
  await bench.chat();
  const headers = bench.seen[0]?.headers ?? {};
  assert.equal(headers.authorization, 'Bearer sk-very-secret');
  assert.equal(headers['x-team'], 'team-sk-very-secret');
});

test('an authorization that the sweep file names is sent instead of the key', async () => {
  const bench = await benchOf(hello, { apiKey: `\${KEY}`, headers: { AUTHORIZATION: 'Basic abc' } });
  await bench.chat();
  assert.equal(bench.seen[0]?.headers.authorization, 'Basic abc');
});

test('no header is sent that tells of this machine or that the environment adds', async (t) => {
  const added = ['X-Added: 1', 'Authorization: Bearer other', 'User-Agent: other', 'Idempotency-Key: other'];
  process.env.OPENAI_CUSTOM_HEADERS = added.join('\n');
  t.after(() => {
    delete process.env.OPENAI_CUSTOM_HEADERS;
  });
  const bench = await benchOf(hello, { headers: { 'x-team': 'a' } });
  await bench.chat();
  const { host, 'content-length': length, ...headers } = bench.seen[0]?.headers ?? {};
  assert.deepEqual(headers, {
    connection: 'keep-alive',
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'regatta',
    'x-team': 'a',
  });
});

test('a model without a key is called without authorization', async () => {
  const bench = await benchOf(hello);
  await bench.chat();
  assert.equal(bench.seen[0]?.headers.authorization, undefined);
});

test("the base URL's query is sent with every request", async () => {
  const bench = await benchOf(hello);
  await bench.chat();
  const { port } = new URL(bench.model.baseUrl);
  const versioned = { ...bench.model, baseUrl: `http://127.0.0.1:${port}/v1/?api-version=2` };
  await bench.models.chat(
    versioned,
    { messages: [] },
    { signal: new AbortController().signal, timeoutMs: 5000, order: 0 },
  );
  assert.deepEqual(
    bench.seen.map((seen) => seen.url),
    ['/v1/chat/completions', '/v1/chat/completions?api-version=2'],
  );
});

test('the idempotency key of a call is sent', async () => {
  const bench = await benchOf(hello);
  await bench.chat({}, { idempotencyKey: 'run/1/3' });
  assert.equal(bench.seen[0]?.headers['idempotency-key'], 'run/1/3');
});
