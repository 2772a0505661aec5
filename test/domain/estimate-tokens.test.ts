import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from '../../domain/estimate-tokens.ts';

const rows: readonly (readonly [text: string, tokens: number])[] = [
  ['', 0],
  ['a', 1],
  ['a refund of 20 euros', 5],
  ['возврат', 4],
  ['返金をお願い', 5],
  ['🙂🙂', 2],
];
for (const [text, tokens] of rows) {
  test(`"${text}" has about ${tokens} tokens`, () => assert.equal(estimateTokens(text), tokens));
}
