import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReply, textIn } from '../../../adapters/http-target/reply.ts';
import type { Json } from '../../../domain/json.ts';
import { toolCallsIn } from '../../../domain/reported-calls.ts';
import { aSend } from './open-target.ts';

const name = { what: 'POST http://a.test/', endpoint: 'http://a.test/', excerpt: '' };

const texts: readonly (readonly [string, Json, string])[] = [
  ['text', 'hi', 'hi'],
  ['a list of parts', [{ type: 'text', text: 'a' }, 'b', { content: 'c' }, { type: 'image' }], 'abc'],
  [
    'parts with a thought',
    [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'a' },
    ],
    'a',
  ],
  ['parts with values', [{ type: 'text', text: { value: 'a' } }], 'a'],
  ['null', null, ''],
  ['an object', { a: 1 }, '{"a":1}'],
  ['a list without parts', [{ a: 1 }], '[{"a":1}]'],
  ['a number', 4, '4'],
];
for (const [title, value, text] of texts) {
  test(`${title} is read as ${text === '' ? 'no text' : text}`, () => assert.equal(textIn(value), text));
}

const calls: readonly (readonly [string, Json | undefined, unknown])[] = [
  [
    'a function with JSON text',
    [{ function: { name: 'f', arguments: '{"a":1}' } }],
    [{ name: 'f', args: { a: 1 } }],
  ],
  ['args', [{ name: 'f', args: { a: 1 } }], [{ name: 'f', args: { a: 1 } }]],
  ['arguments', [{ name: 'f', arguments: { a: 1 } }], [{ name: 'f', args: { a: 1 } }]],
  ['a call with its result', [{ name: 'f', args: {}, result: 3 }], [{ name: 'f', args: {}, result: 3 }]],
  ['plain names, which are no calls', ['f', 'g'], undefined],
  ['arguments that are a list', [{ name: 'f', args: [1] }], undefined],
  ['one call alone', { name: 'f' }, [{ name: 'f' }]],
  ['empty arguments', [{ name: 'f', arguments: '' }], [{ name: 'f', args: {} }]],
  ['cut-off arguments', [{ name: 'f', arguments: '{"a":' }], undefined],
  ['nothing', undefined, []],
  ['null', null, []],
  ['a number', 3, undefined],
];
for (const [title, value, expected] of calls) {
  test(`tool calls are read from ${title}`, () => assert.deepEqual(toolCallsIn(value), expected));
}

test('a reply of tool calls alone is a reply', () => {
  const spec = aSend('http://a.test/', { toolCalls: 'calls', metadata: 'usage' });
  const reply = readReply(
    spec,
    { text: '', json: { text: null, calls: [{ name: 'f' }], usage: 3 }, ms: 5 },
    name,
  );
  assert.deepEqual(reply, { text: '', toolCalls: [{ name: 'f' }], metadata: { value: 3 }, ms: 5 });
});

test('an answer of plain text is a reply where the whole answer is asked for', () => {
  const reply = readReply(aSend('http://a.test/', { reply: 'response' }), { text: 'plain', ms: 1 }, name);
  assert.equal(reply.text, 'plain');
});
