import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf } from '../../domain/cost.ts';

test('a call costs its tokens at their prices per million', () => {
  assert.equal(costOf({ inputTokens: 2_000_000, outputTokens: 500_000 }, { input: 0.15, output: 0.6 }), 0.6);
});
