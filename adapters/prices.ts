import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { costOf } from '../domain/cost.ts';
import type { ModelSpec } from '../domain/sweep-spec.ts';
import type { TokenUsage } from '../domain/usage.ts';

export type Prices = {
  /** What a call costs, in USD; 0 where no price is known. Discounts for cached input are not counted. */
  costUsd(model: ModelSpec, usage: TokenUsage): number;
  /** Whether the model has a price: a budget can hold only models that have. */
  priceKnown(model: ModelSpec): boolean;
};

type PriceOf = (usage: TokenUsage) => number;

/**
 * Prices of models: `price:` of the sweep file, else the published prices of the provider behind the base URL,
 * else those of the model's name.
 */
export function createPrices(): Prices {
  const known = new Map<string, PriceOf | undefined>();

  function published(model: ModelSpec): PriceOf | undefined {
    const key = JSON.stringify([model.baseUrl, model.model]);
    if (!known.has(key)) known.set(key, findPrice(model));
    return known.get(key);
  }

  return {
    costUsd(model, usage) {
      if (model.price !== undefined) return costOf(usage, model.price);
      return published(model)?.(usage) ?? 0;
    },
    priceKnown: (model) => model.price !== undefined || published(model) !== undefined,
  };
}

function findPrice(model: ModelSpec): PriceOf | undefined {
  const at = findProvider({ providerApiUrl: model.baseUrl });
  const found = calcPrice(inUnits(1, 1), model.model, at === undefined ? {} : { provider: at });
  if (found === null) return undefined;
  const { input_mtok: input, output_mtok: output } = found.model_price;
  if (typeof input === 'number' && typeof output === 'number') {
    return (usage) => costOf(usage, { input, output });
  }
  // Prices in tiers depend on the length of the input.
  const { provider } = found;
  return ({ inputTokens, outputTokens }) =>
    calcPrice(inUnits(inputTokens, outputTokens), model.model, { provider })?.total_price ?? 0;
}

function inUnits(inputTokens: number, outputTokens: number): { input_tokens: number; output_tokens: number } {
  return { input_tokens: inputTokens, output_tokens: outputTokens };
}
