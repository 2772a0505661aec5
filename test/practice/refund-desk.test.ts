import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { start } from '../../examples/refund-desk/agent.ts';

type Reply = {
  readonly text: string;
  readonly tool_calls: readonly { readonly name: string; readonly args: object }[];
};

/** A session at a desk of its own, as a function from a message to the reply. */
async function aSession(test: TestContext) {
  const desk = await start();
  test.after(() => desk.close());
  const opened = await fetch(`${desk.url}/sessions`, { method: 'POST' });
  const { id: session } = (await opened.json()) as { id: string };
  const post = (message: string) =>
    fetch(`${desk.url}/chat`, { method: 'POST', body: JSON.stringify({ session, message }) });
  return {
    url: `${desk.url}/sessions/${session}`,
    post,
    say: async (message: string) => (await (await post(message)).json()) as Reply,
  };
}

const names = ({ tool_calls }: Reply) => tool_calls.map(({ name }) => name);

describe('the refund desk', () => {
  it('looks an order up, offers, and refunds with the tool', async (test) => {
    const { say } = await aSession(test);
    assert.match((await say('I want a refund.')).text, /order number/);
    const offer = await say('It is 4471.');
    assert.deepEqual(names(offer), ['find_order']);
    assert.match(offer.text, /a kettle for 20 EUR\. Shall I refund it\?/);
    const done = await say('Yes, please.');
    assert.deepEqual(done.tool_calls, [
      { name: 'refund', args: { order: '4471', eur: 20 }, result: { refunded: true } },
    ]);
    assert.match((await say('And my refund for 4471?')).text, /refunded already/);
  });

  it('has a mistake: it confirms a large refund without the tool', async (test) => {
    const { say } = await aSession(test);
    await say('I want a refund for 4480.');
    const done = await say('Yes, please.');
    assert.match(done.text, /249 EUR .* refunded/);
    assert.deepEqual(done.tool_calls, []);
  });

  it('refunds nothing after 30 days', async (test) => {
    const { say } = await aSession(test);
    const reply = await say('I want a refund for 4460.');
    assert.match(reply.text, /cannot refund after 30 days/);
    assert.deepEqual(names(reply), ['find_order']);
  });

  it('keeps the refunds of one session from another', async (test) => {
    const first = await aSession(test);
    await first.say('A refund for 4472.');
    await first.say('Yes, please.');
    const second = await aSession(test);
    assert.match((await second.say('A refund for 4472.')).text, /Shall I refund it/);
  });

  it('knows no session that was closed', async (test) => {
    const { url, post } = await aSession(test);
    assert.equal((await fetch(url, { method: 'DELETE' })).status, 200);
    assert.equal((await post('Hello')).status, 404);
    assert.equal((await fetch(url, { method: 'DELETE' })).status, 404);
  });
});
