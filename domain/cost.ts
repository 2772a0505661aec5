import type { TokenUsage } from './usage.ts';

/** USD per million tokens. */
export type Price = { readonly input: number; readonly output: number };

/** What a call costs, in USD. */
export function costOf(usage: Pick<TokenUsage, 'inputTokens' | 'outputTokens'>, price: Price): number {
  return (usage.inputTokens * price.input + usage.outputTokens * price.output) / 1_000_000;
}
