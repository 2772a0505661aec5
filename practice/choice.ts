import { stableHash } from '../domain/random.ts';

/** A number from 0 up to 1 that depends on nothing but its arguments. */
export function shareOf(...parts: readonly (string | number)[]): number {
  return stableHash(...parts) / 2 ** 53;
}

/** One of the texts, by a hash of the parts. */
export function chooseText(texts: readonly string[], ...parts: readonly (string | number)[]): string {
  return texts[Math.floor(shareOf(...parts) * texts.length)] ?? '';
}
