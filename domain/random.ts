type Lane = { readonly start: number; readonly first: number; readonly second: number; readonly add: number };

const high: Lane = { start: 0x9747b28c, first: 0xcc9e2d51, second: 0x1b873593, add: 0xe6546b64 };
const low: Lane = { start: 0x3c6ef372, first: 0x239b961b, second: 0xab0e9789, add: 0x561ccd1b };

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function hashLane(text: string, lane: Lane): number {
  let hash = lane.start;
  for (let index = 0; index < text.length; index += 1) {
    const block = Math.imul(rotate(Math.imul(text.charCodeAt(index), lane.first), 15), lane.second);
    hash = (Math.imul(rotate(hash ^ block, 13), 5) + lane.add) | 0;
  }
  return finish(hash ^ text.length);
}

/** Spreads every bit over all 32. */
function finish(block: number): number {
  let hash = Math.imul(block ^ (block >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * A non-negative integer below 2^53 that depends on every part, on its type and on the order, the same on every
 * machine. Not for secrets. Two lanes of MurmurHash3 (A. Appleby, public domain) over UTF-16 code units.
 */
export function stableHash(...parts: readonly (string | number)[]): number {
  const text = parts.map((part) => `${typeof part === 'string' ? part.length : 'n'}:${part}`).join('|');
  return (hashLane(text, high) >>> 11) * 0x1_0000_0000 + hashLane(text, low);
}

/** The seed of a run: the same in every sweep. From 0 to 2^31 - 1, which every provider takes as `seed`. */
export function runSeed(specSeed: number, scenarioId: string, repeat: number): number {
  return stableHash(specSeed, scenarioId, repeat) % 0x8000_0000;
}

/**
 * A choice in [0, 1) that depends on seed, purpose and index alone: never a position in a stream, so that a resumed
 * run chooses the same.
 */
export function uniform(seed: number, purpose: string, index: number): number {
  return stableHash(seed, purpose, index) / 2 ** 53;
}

/**
 * Like `uniform` with 32 bits a choice and a fiftieth of its time, for millions of choices: index (below 2^32) to
 * [0, 1).
 */
export function uniformChoices(seed: number, purpose: string): (index: number) => number {
  const start = stableHash(seed, purpose) | 0;
  return (index) => finish((start + Math.imul(index, 0x9e3779b9)) | 0) / 0x1_0000_0000;
}
