/** Until this many runs have ended, the plan's estimate stands for the cost of a run. */
const runsToLearnFrom = 5;
/** Until then at most this many are open in the whole sweep. */
export const openWhileLearning = 10;

export type Spending = {
  /** Cost of each run that has ended, in USD. */
  readonly costs: readonly number[];
  readonly spentUsd: number;
  readonly open: number;
  /** What may be spent in all. */
  readonly shareUsd: number;
  /** The plan's estimate of a run's cost. */
  readonly estimateUsd: number;
  /** How many may be open while there is nothing to learn from. */
  readonly openWhileLearning: number;
};

/**
 * Whether one more run may open: what was spent, and the p90 cost of a run for each open one and the new one, must
 * fit into the share.
 */
export function mayOpen(spending: Spending): boolean {
  const { costs, open, spentUsd, shareUsd } = spending;
  const learned = costs.length >= runsToLearnFrom;
  if (!learned && open >= spending.openWhileLearning) return false;
  const costUsd = learned ? percentile90(costs) : spending.estimateUsd;
  return spentUsd + (open + 1) * costUsd <= shareUsd;
}

function percentile90(costs: readonly number[]): number {
  const sorted = costs.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * 0.9) - 1)] ?? 0;
}
