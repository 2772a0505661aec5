import type { Mistake } from './usage-error.ts';

/** What a run's id is made of. `repeat` counts from 1. */
export type RunIdParts = {
  readonly sweep: string;
  readonly scenario: string;
  readonly variant?: string;
  readonly repeat: number;
};

/** Temporal takes longer ids, file systems do not: 200 characters leave room for folders around them. */
export const longestId = 200;

/**
 * An id as one segment of a path, safe for file systems, buckets and workflow ids: letters, digits, `-`, `_` and inner
 * dots stay, every other character becomes `%XX`. Throws a URIError for half a surrogate pair (see `idMistake`).
 */
export function encodeId(id: string): string {
  return encodeURIComponent(id)
    .replace(/[!'()*~]/g, percentEncoded)
    .replace(/^\.|\.$/g, '%2E');
}

/** The id that `encodeId` made a segment of. Throws a URIError for what it never makes. */
export function decodeId(segment: string): string {
  return decodeURIComponent(segment);
}

/** Ids that differ in letter case only are the same id: not every file system tells them apart. */
export function foldId(id: string): string {
  return id.normalize('NFC').toLowerCase();
}

/** `<sweep>/<scenario>[@variant]/<repeat>`, scenario and variant path-encoded. */
export function runIdOf({ sweep, scenario, variant, repeat }: RunIdParts): string {
  const at = variant === undefined ? '' : `@${encodeId(variant)}`;
  return `${sweep}/${encodeId(scenario)}${at}/${repeat}`;
}

/** The parts of a run id; `undefined` for anything that `runIdOf` does not make. */
export function parseRunId(id: string): RunIdParts | undefined {
  const [, sweep, scenario, variant, repeat] =
    /^([^/@]+)\/([^/@]+)(?:@([^/@]+))?\/([1-9]\d*)$/.exec(id) ?? [];
  if (sweep === undefined || scenario === undefined) return undefined;
  try {
    const parts = { sweep, scenario: decodeId(scenario), repeat: Number(repeat) };
    return variant === undefined ? parts : { ...parts, variant: decodeId(variant) };
  } catch {
    // A percent sign that encodes nothing.
    return undefined;
  }
}

/** A moment as a calendar shows it; `month` counts from 1. */
export type CalendarTime = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

/** `<name>-<yyyymmdd>-<hhmmss>-<4 hex>`. */
export function sweepIdOf(name: string, time: CalendarTime, hex: string): string {
  const two = (part: number) => String(part).padStart(2, '0');
  const date = `${String(time.year).padStart(4, '0')}${two(time.month)}${two(time.day)}`;
  return `${name}-${date}-${two(time.hour)}${two(time.minute)}${two(time.second)}-${hex}`;
}

/** What is wrong with a sweep id that a user chose (`--id`); `undefined` where nothing is. */
export function sweepIdMistake(id: string): Mistake | undefined {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,98}[A-Za-z0-9_-]$|^[A-Za-z0-9]$/.test(id)) return undefined;
  return {
    message: `"${id}" cannot be the id of a sweep`,
    hint: 'at most 100 letters, digits, dots, dashes or underscores, with a letter or digit first and no dot last',
  };
}

/** What is wrong with the id of a scenario or the name of a variant; `undefined` where nothing is. */
export function idMistake(id: string): string | undefined {
  if (id.trim() === '') return 'an id must not be empty';
  if (/\p{Surrogate}/u.test(id)) return `the id "${id}" holds half a character`;
  const length = encodeId(id).length;
  if (length <= longestPart) return undefined;
  return `the id "${id.slice(0, 40)}..." takes ${length} characters in paths; at most ${longestPart} fit`;
}

// Leaves room for the sweep's id, the variant and the repeat in a run's id.
const longestPart = 120;

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
