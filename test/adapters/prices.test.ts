import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrices } from '../../adapters/prices.ts';
import type { ModelSpec } from '../../domain/sweep-spec.ts';

const prices = createPrices();
const million = { inputTokens: 1_000_000, outputTokens: 1_000_000, estimated: false };

function aModel(more: Partial<ModelSpec>): ModelSpec {
  return {
    name: 'm',
    model: 'm',
    baseUrl: 'http://localhost:1/v1',
    headers: {},
    params: {},
    maxInFlight: 256,
    ...more,
  };
}

test('a written price beats the published one', () => {
  const model = aModel({ model: 'gpt-4o-mini', price: { input: 1, output: 2 } });
  assert.equal(prices.costUsd(model, million), 3);
});

test('a written price of nothing is a known price', () => {
  const model = aModel({ price: { input: 0, output: 0 } });
  assert.deepEqual([prices.priceKnown(model), prices.costUsd(model, million)], [true, 0]);
});

test("the price is that of the base URL's provider", () => {
  const model = aModel({ model: 'gpt-4o-mini', baseUrl: 'https://api.openai.com/v1' });
  assert.equal(prices.costUsd(model, million), 0.75);
});

test('behind a base URL of nobody known the price is that of the name', () => {
  assert.equal(prices.costUsd(aModel({ model: 'gpt-4o-mini' }), million), 0.75);
});

test('a price in tiers follows the length of the input', () => {
  const model = aModel({
    model: 'gemini-2.5-pro',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
  });
  const short = prices.costUsd(model, { inputTokens: 1000, outputTokens: 0, estimated: false });
  const long = prices.costUsd(model, { inputTokens: 1_000_000, outputTokens: 0, estimated: false });
  assert.ok(short > 0 && long > short * 1000);
});

test('a model that nobody knows has no price and costs nothing', () => {
  const model = aModel({ model: 'our-own-model' });
  assert.deepEqual([prices.priceKnown(model), prices.costUsd(model, million)], [false, 0]);
});
