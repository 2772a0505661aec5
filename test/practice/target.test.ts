import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRequest } from '../../practice/request.ts';
import { targetAnswer } from '../../practice/target.ts';
import { aPracticeModel, aTool, callOf, complete, textOf } from './practice-client.ts';

const findOrder = aTool('find_order', {
  type: 'object',
  properties: { order: { type: 'integer' } },
  required: ['order'],
});
const refund = aTool('refund', {
  type: 'object',
  properties: { order: { type: 'integer' }, amount: { type: 'number' } },
  required: ['order', 'amount'],
});

/** A tool call and its result, as messages. */
function called(name: string, args: object, result: object): readonly object[] {
  const call = { id: name, type: 'function', function: { name, arguments: JSON.stringify(args) } };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: name, content: JSON.stringify(result) },
  ];
}

function reply(...messages: readonly object[]) {
  return targetAnswer(
    parseRequest(JSON.stringify({ model: 'practice', messages, tools: [findOrder, refund] })),
  );
}

const wish = { role: 'user', content: 'I want a refund for my order 4471.' };
const found = called('find_order', { order: 4471 }, { order: 4471, amount: 20 });

describe('the practice target', () => {
  it('asks for the argument that it lacks', () => {
    assert.deepEqual(reply({ role: 'user', content: 'I want a refund.' }), {
      kind: 'text',
      text: 'Of course. What is your order?',
    });
  });

  it('looks things up as soon as it can', () => {
    assert.deepEqual(reply(wish), { kind: 'tool_call', name: 'find_order', args: { order: 4471 } });
  });

  it('then calls what was asked for, with arguments from the results', () => {
    assert.deepEqual(reply(wish, ...found), {
      kind: 'tool_call',
      name: 'refund',
      args: { order: 4471, amount: 20 },
    });
  });

  it('calls nothing that changes things without being asked', () => {
    assert.equal(reply({ role: 'user', content: 'Where is order 4471?' }, ...found).kind, 'text');
  });

  it('answers from the results, and calls nothing twice', () => {
    const done = called('refund', { order: 4471, amount: 20 }, { refunded: true });
    assert.deepEqual(reply(wish, ...found, ...done), {
      kind: 'text',
      text: 'Here is what I have: refunded true.',
    });
  });

  it('reports the error of a tool and goes no further', () => {
    const lost = called('find_order', { order: 4471 }, { error: 'no such order' });
    assert.deepEqual(reply(wish, ...lost), {
      kind: 'text',
      text: 'I am sorry, that did not work: no such order.',
    });
  });

  it('calls a tool over HTTP as hosted models do', async (test) => {
    const answer = await complete(await aPracticeModel(test), { messages: [wish], tools: [findOrder] });
    assert.deepEqual(callOf(answer), { name: 'find_order', args: { order: 4471 } });
    assert.equal(answer.choices[0]?.finish_reason, 'tool_calls');
    assert.equal(answer.choices[0]?.message.content, null);
  });

  it('says only short things where the model is called plain', async (test) => {
    const answer = await complete(await aPracticeModel(test), {
      model: 'plain',
      messages: [wish],
      tools: [findOrder],
    });
    assert.equal(textOf(answer), 'This is message 1, please go on.');
  });
});
