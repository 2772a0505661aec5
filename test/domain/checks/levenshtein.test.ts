import assert from 'node:assert/strict';
import { it } from 'node:test';
import { editDistance, longestCompared, similarity } from '../../../domain/checks/levenshtein.ts';
import { uniform } from '../../../domain/random.ts';

/** The textbook table. */
function plainDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function someText(seed: number): string {
  const length = Math.floor(uniform(seed, 'length', 0) * 100);
  return Array.from({ length }, (_, index) => 'abcd'[Math.floor(uniform(seed, 'letter', index) * 4)]).join(
    '',
  );
}

it('the edit distance is that of the textbook table, also past 32 and 64 letters', () => {
  for (let seed = 0; seed < 400; seed += 1) {
    const [a, b] = [someText(seed), someText(seed + 1000)];
    assert.equal(editDistance(a, b), plainDistance(a, b), `${a} / ${b}`);
  }
});

it('equal texts are alike by 1, texts without a common letter by 0', () => {
  assert.deepEqual(
    [similarity('', ''), similarity('same', 'same'), similarity('abc', 'xyz'), similarity('abc', '')],
    [1, 1, 0, 0],
  );
  assert.equal(similarity('kitten', 'sitting'), 1 - 3 / 7);
});

it('texts are compared up to 10,000 letters', () => {
  const start = 'a'.repeat(longestCompared);
  assert.equal(similarity(`${start}b`, `${start}${'c'.repeat(500_000)}`), 1);
});
