/**
 * The chance that k runs of one scenario, drawn without replacement from its n decided runs of which c passed, all
 * pass: C(c,k) / C(n,k). Unbiased for pass^k (S. Yao et al., tau-bench, 2024, arXiv:2406.12045). Absent where k > n.
 */
export function passHatK(passes: number, total: number, k: number): number | undefined {
  if (k > total) return undefined;
  let chance = 1;
  for (let drawn = 0; drawn < k; drawn += 1) chance *= Math.max(0, passes - drawn) / (total - drawn);
  return chance;
}

/**
 * The chance that at least one of k runs passes: 1 - C(n-c,k) / C(n,k). Unbiased for pass@k (M. Chen et al.,
 * Evaluating Large Language Models Trained on Code, 2021, arXiv:2107.03374). Absent where k > n.
 */
export function passAtK(passes: number, total: number, k: number): number | undefined {
  const allFail = passHatK(total - passes, total, k);
  return allFail === undefined ? undefined : 1 - allFail;
}

/**
 * The value at a percent (0 to 100) of items in ascending order, each counted `weight` times, by nearest rank: the
 * smallest value that at least this share does not exceed. Never between two values. Absent where nothing counts.
 */
export function percentileOf<Item extends { readonly value: number }>(
  ascending: readonly Item[],
  percent: number,
  weight: (item: Item) => number = () => 1,
): number | undefined {
  let total = 0;
  for (const item of ascending) total += weight(item);
  // percent * total before the division: 0.95 * 20 is more than 19.
  const rank = Math.max(1, Math.ceil((percent * total) / 100));
  let seen = 0;
  for (const item of ascending) {
    seen += weight(item);
    if (seen >= rank) return item.value;
  }
  return undefined;
}
