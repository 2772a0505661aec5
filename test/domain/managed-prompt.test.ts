import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { driverPrompt, readDriverReply } from '../../domain/managed-prompt.ts';

describe("the driver's prompt", () => {
  it('is the text of its author alone where the managed block is off', () => {
    assert.equal(driverPrompt({ prompt: 'You are Ada.', managed: false, tools: true }), 'You are Ada.');
  });

  it('names the tool where the model can call it, else the marker', () => {
    const withTools = driverPrompt({ prompt: 'You are Ada.', managed: true, tools: true });
    const without = driverPrompt({ prompt: 'You are Ada.', managed: true, tools: false });
    assert.match(withTools, /^You are Ada\.\n\nRules/);
    assert.deepEqual([withTools.includes('end_conversation'), withTools.includes('[[end')], [true, false]);
    assert.deepEqual(
      [without.includes('end_conversation'), without.includes('[[end: REASON]]')],
      [false, true],
    );
  });
});

describe("the driver's reply", () => {
  const call = (args?: Record<string, string>) => [
    { name: 'end_conversation', ...(args === undefined ? {} : { args }) },
  ];

  it('goes on where it is only text', () => {
    assert.deepEqual(readDriverReply({ text: ' Where is my order? ', toolCalls: [] }), {
      text: 'Where is my order?',
    });
  });

  it('ends with the closing message of the tool call', () => {
    const toolCalls = call({ reason: 'goal_met', closing_message: 'Thanks, bye.' });
    assert.deepEqual(readDriverReply({ text: 'Great!', toolCalls }), {
      text: 'Thanks, bye.',
      done: 'goal_met',
    });
  });

  it('ends with what was written beside a call without a closing message', () => {
    assert.deepEqual(readDriverReply({ text: 'Thanks.', toolCalls: call({ reason: 'stuck' }) }), {
      text: 'Thanks.',
      done: 'stuck',
    });
  });

  it('ends for another reason where the reason is unknown or cut off', () => {
    assert.equal(readDriverReply({ text: '', toolCalls: call({ reason: 'bored' }) }).done, 'other');
    assert.deepEqual(readDriverReply({ text: '', toolCalls: call() }), { text: '', done: 'other' });
  });

  it('ends with the marker, which nobody else sees', () => {
    assert.deepEqual(readDriverReply({ text: 'Thanks, bye.\n[[end: goal_met]]', toolCalls: [] }), {
      text: 'Thanks, bye.',
      done: 'goal_met',
    });
    assert.deepEqual(readDriverReply({ text: 'Bye. `[[END: Goal met]]`', toolCalls: [] }), {
      text: 'Bye.',
      done: 'goal_met',
    });
    assert.deepEqual(readDriverReply({ text: '[[end: nonsense]]', toolCalls: [] }), {
      text: '',
      done: 'other',
    });
  });

  it('takes a call of another tool for nothing', () => {
    assert.deepEqual(readDriverReply({ text: 'Hm.', toolCalls: [{ name: 'find_order', args: {} }] }), {
      text: 'Hm.',
    });
  });
});
