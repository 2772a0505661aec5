import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { driverSigns } from '../../domain/driver-signs.ts';

const ordinary: readonly string[] = [
  'Hi, where is my order 4471?',
  'I have waited three weeks now. I want my money back!',
  'Can you help me with a refund?',
  'How can I get help with this?',
  'Is there anything else I can do to speed this up?',
  'Is there anything else you can do for me?',
  'Thank you for your help, that is all.',
  'Thanks, bye.',
  '4471',
  'ok',
  '?',
  '👍',
  'Yes, please.',
  'My name is Ada and my e-mail is ada@example.com.',
  'Am I talking to an AI? I want a human.',
  'Are you an AI assistant or a person?',
  'As an AI assistant you should know what I ordered.',
  "I'm an AI engineer, so I know how this works.",
  'I am an agent for a travel company and need an invoice.',
  'Order: 4471\nAgent: Maria\nDate: 3 May',
  'The response of your API was {"error": "not found"}',
  '{"error": {"code": 404, "message": "no such order"}}',
  'I called get_order() and it returned null. Why?',
  'My code is:\n```python\nprint(order)\n```\nWhat is wrong with it?',
  "I'd be happy to send you a photo of the damage.",
  'Let me check... yes, it is the blue one.',
  'The agent told me: we will refund you within five days.',
  'I can help you find it: it was ordered on Monday.',
  'Happy to wait, but please tell me how long.',
  'What can I do with this voucher?',
  'Ich möchte mein Geld zurück.',
  '請問我的訂單在哪裡？',
];

const unfit: readonly [string, string][] = [
  ['', 'empty'],
  ['  \n ', 'empty'],
  ['...', 'empty'],
  ['{"name": "end_conversation", "arguments": {"reason": "goal_met"}}', 'tool_json'],
  ['[{"name": "find_order", "parameters": {"id": 1}}]', 'tool_json'],
  ['```json\n{"tool": "end_conversation", "args": {}}\n```', 'tool_json'],
  ['{"tool_calls": []}', 'tool_json'],
  ['{"reason": "goal_met", "closing_message": "Bye"}', 'tool_json'],
  ['<tool_call>{"name": "end_conversation"}</tool_call>', 'tool_markup'],
  ['Thanks! <function=end_conversation>', 'tool_markup'],
  ['[TOOL_CALLS] [{"name": "x"}]', 'tool_markup'],
  ['end_conversation(reason="goal_met")', 'tool_code'],
  ['```\nend_conversation({ reason: "stuck" })\n```', 'tool_code'],
  ['How can I help you today?', 'offers_help'],
  ['Hello! How may I assist you?', 'offers_help'],
  ["I'd be happy to help you with that refund.", 'offers_help'],
  ['Is there anything else I can help you with?', 'offers_help'],
  ['I’m here to help you.', 'offers_help'],
  ['Thank you for contacting support.', 'offers_help'],
  ["I'm sorry, but as an AI language model, I cannot do that.", 'speaks_as_ai'],
  ['I am just a virtual assistant, so I have no order.', 'speaks_as_ai'],
  ['I am an AI and cannot buy things.', 'speaks_as_ai'],
  ['Where is it?\nAgent: I have issued the refund.', 'narrates_target'],
  ['**Assistant:** Sure, here is your order status.', 'narrates_target'],
];

describe("the signs of a driver's message", () => {
  for (const text of ordinary) {
    it(`are none in ${JSON.stringify(text)}`, () => assert.deepEqual(driverSigns(text), []));
  }
  for (const [text, sign] of unfit) {
    it(`name ${sign} in ${JSON.stringify(text)}`, () =>
      assert.ok(driverSigns(text).includes(sign), driverSigns(text).join()));
  }

  it('are found in a long message in no time', () => {
    assert.deepEqual(
      driverSigns(
        `${'_a'.repeat(50_000)} ${'\n'.repeat(50_000)} ${'] '.repeat(50_000)} ${'is there '.repeat(10_000)} ${'Agent '.repeat(10_000)}`,
      ),
      [],
    );
  });
});
