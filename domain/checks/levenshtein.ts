/** Texts are compared up to this length: the distance takes time in proportion to the product of both. */
export const longestCompared = 10_000;

const rowsOfBlock = 32;

/**
 * How alike two texts are: 1 - edit distance / longer length, from 0 to 1, over the first 10,000 UTF-16 code units of
 * each. Two empty texts are equal.
 */
export function similarity(a: string, b: string): number {
  const [left, right] = [a.slice(0, longestCompared), b.slice(0, longestCompared)];
  const longer = Math.max(left.length, right.length);
  return longer === 0 ? 1 : 1 - editDistance(left, right) / longer;
}

/**
 * The Levenshtein distance, 32 rows of the table at a time. Bit-parallel after G. Myers, "A fast bit-vector algorithm
 * for approximate string matching" (J. ACM 46, 1999), in the block form of H. Hyyrö (2003).
 */
export function editDistance(a: string, b: string): number {
  // What each column of the table gains from its left neighbour, in the row above the block: 1, 0 or -1.
  const gains = new Int8Array(b.length).fill(1);
  for (let start = 0; start < a.length; start += rowsOfBlock)
    passBlock(a.slice(start, start + rowsOfBlock), b, gains);
  return gains.reduce((sum, gain) => sum + gain, a.length);
}

function passBlock(rows: string, columns: string, gains: Int8Array): void {
  const places = new Map<number, number>();
  for (let row = 0; row < rows.length; row += 1) {
    const unit = rows.charCodeAt(row);
    places.set(unit, (places.get(unit) ?? 0) | (1 << row));
  }
  const lowest = 1 << (rows.length - 1);
  // Bit r of `up`: the cell in row r is one more than the cell above it; of `down`: one less.
  let up = -1;
  let down = 0;
  for (let column = 0; column < columns.length; column += 1) {
    const gain = gains[column] ?? 0;
    const same = places.get(columns.charCodeAt(column)) ?? 0;
    const vertical = same | down;
    const equal = gain < 0 ? same | 1 : same;
    const horizontal = (((equal & up) + up) ^ up) | equal;
    const more = down | ~(horizontal | up);
    const less = up & horizontal;
    gains[column] = (more & lowest) !== 0 ? 1 : (less & lowest) !== 0 ? -1 : 0;
    const moreBelow = (more << 1) | (gain > 0 ? 1 : 0);
    const lessBelow = (less << 1) | (gain < 0 ? 1 : 0);
    up = lessBelow | ~(vertical | moreBelow);
    down = moreBelow & vertical;
  }
}
