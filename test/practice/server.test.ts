import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import { startPracticeModel } from '../../practice/server.ts';
import { aDriverRequest, aPracticeModel, complete, hello, post, textOf } from './practice-client.ts';

describe('the practice model', () => {
  it('gives equal answers to equal requests, from another process life too', async (test) => {
    const first = await aPracticeModel(test, { seed: 3 });
    const second = await aPracticeModel(test, { seed: 3 });
    const { choices, usage } = await complete(first, hello);
    const again = await complete(second, hello);
    assert.deepEqual({ choices, usage }, { choices: again.choices, usage: again.usage });
    assert.match(textOf(again), /order 4471/);
  });

  it('answers with and without /v1', async (test) => {
    const model = await aPracticeModel(test);
    const bare = { ...model, url: model.url.replace(/\/v1$/, '') };
    assert.equal(textOf(await complete(bare, hello)), textOf(await complete(model, hello)));
  });

  it('counts tokens as characters divided by four', async (test) => {
    const model = await aPracticeModel(test);
    const answer = await complete(model, { messages: [{ role: 'user', content: 'x'.repeat(41) }] });
    assert.equal(answer.usage.prompt_tokens, 11);
    assert.equal(answer.usage.completion_tokens, Math.ceil(textOf(answer).length / 4));
  });

  it('cuts an answer at max_tokens and says so', async (test) => {
    const model = await aPracticeModel(test);
    const answer = await complete(model, {
      ...aDriverRequest(`You want a ${'very '.repeat(30)} large refund.`),
      max_tokens: 17,
    });
    assert.equal(textOf(answer).length, 68);
    assert.equal(answer.choices[0]?.finish_reason, 'length');
  });

  it('lists its models and answers 404 to any other', async (test) => {
    const model = await aPracticeModel(test, { models: ['one', 'two'] });
    const list = (await (await fetch(`${model.url}/models`)).json()) as { data: { id: string }[] };
    assert.deepEqual(
      list.data.map(({ id }) => id),
      ['one', 'two'],
    );
    const response = await post(model, { ...hello, model: 'three' });
    assert.equal(response.status, 404);
    assert.match(await response.text(), /model_not_found/);
  });

  it('answers 401 without the key and 200 with it', async (test) => {
    const model = await aPracticeModel(test, { apiKey: 'k' });
    assert.equal((await post(model, hello)).status, 401);
    assert.equal((await post(model, hello, { authorization: 'Bearer k' })).status, 200);
    assert.equal((await fetch(`${model.url}/models`)).status, 401);
  });

  for (const [refused, body] of [
    ['tools', { tools: [{ type: 'function', function: { name: 'a' } }] }],
    ['temperature', { temperature: 0 }],
    ['max_tokens', { max_tokens: 8 }],
    ['schema', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } }],
    ['seed', { seed: 1 }],
  ] as const) {
    it(`refuses ${refused} with 400 and its name`, async (test) => {
      const model = await aPracticeModel(test, { refuses: [refused] });
      const response = await post(model, { ...hello, ...body });
      const { error } = (await response.json()) as { error: { param: string; code: string } };
      assert.equal(response.status, 400);
      assert.equal(error.param, refused === 'schema' ? 'response_format' : refused);
      assert.equal(error.code, 'unsupported_parameter');
      assert.equal((await post(model, hello)).status, 200);
    });
  }

  it('refuses messages out of order only where it is told to', async (test) => {
    const strict = await aPracticeModel(test, { refuses: ['disorder'] });
    const lenient = await aPracticeModel(test);
    const user = { role: 'user', content: 'Hello' };
    const bad = { messages: [user, user] };
    assert.equal((await post(strict, bad)).status, 400);
    assert.equal(
      (await post(strict, { messages: [{ role: 'assistant', content: 'Hi' }, user] })).status,
      400,
    );
    assert.equal((await post(strict, { messages: [{ ...user, content: '' }] })).status, 400);
    assert.equal((await post(strict, { messages: [user] })).status, 200);
    assert.equal((await post(lenient, bad)).status, 200);
  });

  it('takes tool results between an assistant that called and its answer', async (test) => {
    const strict = await aPracticeModel(test, { refuses: ['disorder'] });
    const call = { id: 'c1', type: 'function', function: { name: 'find_order', arguments: '{}' } };
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: '{}' },
      { role: 'assistant', content: 'Here.' },
      { role: 'user', content: 'Thanks' },
    ];
    assert.equal((await post(strict, { messages })).status, 200);
  });

  for (const [what, body] of [
    ['no JSON', '{"model":'],
    ['no messages', '{"model":"practice","messages":[]}'],
    [
      'a forced tool that is not there',
      '{"model":"m","messages":[{"role":"user","content":"a"}],"tool_choice":{"function":{"name":"x"}}}',
    ],
  ] as const) {
    it(`answers 400 to a body with ${what}`, async (test) => {
      const model = await aPracticeModel(test);
      const response = await fetch(`${model.url}/chat/completions`, { method: 'POST', body });
      assert.equal(response.status, 400);
      assert.equal(model.stats().rejected, 1);
    });
  }

  it('streams an answer in chunks that make up the same text, with usage and [DONE]', async (test) => {
    const model = await aPracticeModel(test);
    const whole = await complete(model, hello);
    const response = await post(model, { ...hello, stream: true, stream_options: { include_usage: true } });
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    const events = (await response.text()).split('\n\n').filter((event) => event !== '');
    assert.equal(events.at(-1), 'data: [DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace('data: ', '')));
    assert.ok(chunks.length > 4);
    assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), textOf(whole));
    assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop');
    assert.deepEqual(chunks.at(-1).usage, whole.usage);
  });

  it('streams a tool call that the openai client puts together', async (test) => {
    const model = await aPracticeModel(test);
    const client = new OpenAI({ baseURL: model.url, apiKey: 'none', maxRetries: 0 });
    const stream = client.chat.completions.stream({
      model: 'practice',
      messages: [{ role: 'user', content: 'My order is 4471.' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'find_order',
            parameters: { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] },
          },
        },
      ],
    });
    const { choices } = await stream.finalChatCompletion();
    const call = choices[0]?.message.tool_calls?.[0];
    assert.equal(call?.type === 'function' && call.function.arguments, '{"order":4471}');
    assert.equal(choices[0]?.finish_reason, 'tool_calls');
  });

  it('says that its port is taken', async (test) => {
    const model = await aPracticeModel(test);
    await assert.rejects(startPracticeModel({ port: model.port }), /EADDRINUSE/);
  });
});
