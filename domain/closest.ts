/**
 * The candidate that a misspelt word most likely meant: the least edit distance (Levenshtein with neighbours
 * swapped as one edit; letter case ignored), at most a third of the longer word and at least one; `undefined` where none is that near.
 */
export function closestWord(word: string, candidates: readonly string[]): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    const reach = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3));
    if (distance <= reach && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

/** `did you mean "x"?`, else what is allowed (at most twenty words). */
export function wordHint(word: string, candidates: readonly string[]): string {
  const closest = closestWord(word, candidates);
  if (closest !== undefined) return `did you mean "${closest}"?`;
  if (candidates.length === 0) return 'there are none';
  const shown = candidates.slice(0, 20).join(', ');
  return `allowed: ${shown}${candidates.length > 20 ? ', ...' : ''}`;
}

// Words of files are short; longer text is cut so that a pasted paragraph cannot cost seconds.
const longestWord = 100;

function editDistance(a: string, b: string): number {
  const [from, to] = [a.slice(0, longestWord), b.slice(0, longestWord)];
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swaps = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = swaps && i > 1 && j > 1 ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[to.length] ?? 0;
}
