import { InvalidArgumentError } from 'commander';

/** A flag's value as a whole number from 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('A whole number from 0 is needed.');
  return Number(text);
}

/** A flag's value as a number from 0, decimals allowed. */
export function decimalNumber(text: string): number {
  if (!/^(\d+\.?\d*|\.\d+)$/.test(text)) throw new InvalidArgumentError('A number from 0 is needed.');
  return Number(text);
}

/** One more value of a flag that may be given several times. */
export function addText(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
