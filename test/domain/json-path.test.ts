import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../domain/json.ts';
import { followPath, isWholePath } from '../../domain/json-path.ts';

const answer: Json = {
  text: 'hello',
  none: null,
  a: { b: [{ c: 1 }, { c: 2 }] },
  messages: [{ content: 'first' }, { content: 'last' }],
  'odd.key': { 7: 'seven' },
};

const found: readonly (readonly [string, Json | undefined])[] = [
  ['response.text', 'hello'],
  ['text', 'hello'],
  ['response.a.b[0].c', 1],
  ['a.b.1.c', 2],
  ['response.messages.-1.content', 'last'],
  ['response.messages[-2].content', 'first'],
  ['response["odd.key"].7', 'seven'],
  ['response.none', null],
  ['response.none.deeper', undefined],
  ['response.a.b.first', undefined],
  ['response.a.b.9.c', undefined],
  ['response.missing', undefined],
  ['response.toString', undefined],
  ['response', answer],
];

for (const [path, value] of found) {
  test(`${path} leads to ${value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 20)}`, () => {
    assert.deepEqual(followPath(answer, path), value);
  });
}

test('a key that is named response is found with and without the prefix', () => {
  assert.equal(followPath({ response: 'hi' }, 'response'), 'hi');
  assert.equal(followPath({ response: { text: 'hi' } }, 'response.text'), 'hi');
  assert.equal(followPath({ response: { text: 'hi' } }, 'response.response.text'), 'hi');
});

test('a list can be the whole answer', () => {
  assert.equal(followPath([{ text: 'hi' }], 'response.0.text'), 'hi');
  assert.equal(followPath([{ text: 'hi' }], '[0].text'), 'hi');
});

test('only response alone names the whole answer', () => {
  assert.equal(isWholePath('response'), true);
  assert.equal(isWholePath('response.text'), false);
});
