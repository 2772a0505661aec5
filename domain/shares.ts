/** What a sweep hands to one of its live shards. The shares of the live shards sum exactly to the whole. */
export type Share = {
  /** How many runs it may keep open. */
  readonly window: number;
  /** What it may have spent in all, in USD; absent: no budget. */
  readonly usd?: number;
  readonly paused: boolean;
  /** Opens no more runs; the open ones end. */
  readonly closing: boolean;
};

/** How many shards are live at once for a window: one per hundred runs, at least two. */
export function liveShards(window: number): number {
  return Math.max(2, Math.ceil(window / 100));
}

/** Splits a whole number into `parts` whole shares that differ by one at most and sum to it. */
export function splitWindow(window: number, parts: number): readonly number[] {
  const least = Math.floor(window / parts);
  const larger = window - least * parts;
  return Array.from({ length: parts }, (_, index) => least + (index < larger ? 1 : 0));
}

export type BudgetSplit = {
  readonly budgetUsd: number;
  /** What runs outside the live shards cost. */
  readonly spentElsewhere: number;
  /** What each live shard has spent. */
  readonly spent: readonly number[];
  /** All that is left goes to the first. */
  readonly concentrated: boolean;
};

/** Each live shard may have spent what it has spent already and an equal part of what is left; they sum to the budget. */
export function splitBudget({
  budgetUsd,
  spentElsewhere,
  spent,
  concentrated,
}: BudgetSplit): readonly number[] {
  const left = Math.max(0, budgetUsd - spentElsewhere - spent.reduce((sum, usd) => sum + usd, 0));
  return spent.map((usd, index) => usd + (concentrated ? (index === 0 ? left : 0) : left / spent.length));
}
