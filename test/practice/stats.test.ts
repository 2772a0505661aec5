import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { aDriverRequest, aPracticeModel, aTool, complete, hello, post } from './practice-client.ts';

describe('the statistics of the practice model', () => {
  it('count calls by role, model and form of the answer, and probes apart', async (test) => {
    const model = await aPracticeModel(test);
    await complete(model, hello);
    await complete(model, { ...hello, model: 'other', stream: true }).catch(() => {});
    await complete(model, aDriverRequest('You want a refund.'));
    await complete(model, { ...hello, tools: [aTool('judge_it', {})], tool_choice: 'required' });
    await complete(model, { ...hello, max_tokens: 16 });
    const stats = model.stats();
    assert.equal(stats.calls, 4);
    assert.equal(stats.probes, 1);
    assert.equal(stats.answered, 4);
    assert.deepEqual(stats.by_role, { driver: 1, target: 2, judge: 1 });
    assert.deepEqual(stats.by_model, { practice: 3, other: 1 });
    assert.deepEqual(stats.by_kind, { text: 2, stream: 1, tool_call: 1 });
  });

  it('tell a call after a fault from a call that had been answered', async (test) => {
    const model = await aPracticeModel(test, { faults: { rate500: 0.5 }, seed: 1 });
    const words = Array.from({ length: 40 }, (_, index) => ({
      messages: [{ role: 'user', content: `no. ${index}` }],
    }));
    for (const word of words) {
      while ((await post(model, word)).status !== 200);
    }
    const { calls, faults, after_fault, answered, repeated } = model.stats();
    assert.equal(answered, 40);
    assert.equal(after_fault, faults.rate500);
    assert.equal(calls, 40 + after_fault);
    assert.equal(repeated, 0);
    while ((await post(model, words[0] ?? {})).status !== 200);
    assert.ok(model.stats().repeated > 0);
  });

  it('know how many calls were in flight at most', async (test) => {
    const model = await aPracticeModel(test, { latencyMs: 30 });
    await Promise.all(Array.from({ length: 7 }, (_, index) => complete(model, { ...hello, seed: index })));
    const stats = model.stats();
    assert.equal(stats.max_in_flight, 7);
    assert.equal(stats.in_flight, 0);
    assert.equal(stats.conversations.max_in_flight, 7);
  });

  it('count calls by conversation, which a prompt may name', async (test) => {
    const model = await aPracticeModel(test);
    const named = (content: string) =>
      complete(model, {
        messages: [
          { role: 'system', content },
          { role: 'user', content: 'Hi' },
        ],
      });
    await named('This is conversation 17. Be kind.');
    await named('You are conversation 17 of the bench.');
    await named('conversation: a-18');
    const { conversations } = model.stats();
    assert.deepEqual(conversations, { count: 2, min_calls: 1, max_calls: 2, max_in_flight: 1 });
    const response = await fetch(`${model.url}/stats?conversations=1`);
    const { by_conversation } = (await response.json()) as { by_conversation: object };
    assert.deepEqual(by_conversation, { '17': 2, 'a-18': 1 });
  });

  it('count a client that leaves before its answer', async (test) => {
    const model = await aPracticeModel(test, { faults: { hang: 1 } });
    const body = JSON.stringify({ model: 'practice', ...hello });
    const socket = connect(model.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    while (model.stats().in_flight === 0) await fetch(`${model.url}/models`);
    socket.destroy();
    while (model.stats().in_flight > 0) await fetch(`${model.url}/models`);
    assert.equal(model.stats().left, 1);
    assert.equal(model.stats().answered, 0);
  });

  it('are served and reset over HTTP', async (test) => {
    const model = await aPracticeModel(test);
    await complete(model, hello);
    const root = model.url.replace('/v1', '');
    assert.deepEqual(await (await fetch(`${root}/stats`)).json(), model.stats());
    await fetch(`${root}/stats/reset`, { method: 'POST' });
    assert.equal(model.stats().calls, 0);
  });
});
