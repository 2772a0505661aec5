/** Reads a header by its lower-case name. */
export type ReadHeader = (name: string) => string | undefined;

/** After an hour it is worth asking again, whatever the other side said. */
const longestMs = 3_600_000;

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Times of reset, each with what is left of the same limit. */
const resets: readonly (readonly [reset: string, remaining: string])[] = [
  ['x-ratelimit-reset-requests', 'x-ratelimit-remaining-requests'],
  ['x-ratelimit-reset-tokens', 'x-ratelimit-remaining-tokens'],
  ['x-ratelimit-reset', 'x-ratelimit-remaining'],
  ['x-ratelimit-reset-after', 'x-ratelimit-remaining'],
  ['ratelimit-reset', 'ratelimit-remaining'],
  ['anthropic-ratelimit-requests-reset', 'anthropic-ratelimit-requests-remaining'],
  ['anthropic-ratelimit-tokens-reset', 'anthropic-ratelimit-tokens-remaining'],
  ['anthropic-ratelimit-input-tokens-reset', 'anthropic-ratelimit-input-tokens-remaining'],
  ['anthropic-ratelimit-output-tokens-reset', 'anthropic-ratelimit-output-tokens-remaining'],
];

/** `"retryDelay": "34s"`, `try again in 1m2.5s`, `retry after 20 seconds`, `wait 3 seconds`. */
const inWords =
  /(?:retrydelay"?\s*:\s*"|(?:retry|again|wait)\s+(?:in|after|for)?\s*)((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|h|m|s|hours?|min|minutes?|seconds?|secs?)\b\s*|\d+(?:\.\d+)?[hms])+)/i;

/**
 * How long the other side asked to wait, in milliseconds, at most an hour. Reads `retry-after-ms`, `retry-after`
 * (seconds, decimals, durations, dates), the body's words, then the common headers of reset. Undefined where nothing
 * says so, or what it says is unreadable, zero or past: the caller backs off by itself.
 */
export function readRetryAfter(header: ReadHeader, body: string, now: number): number | undefined {
  const named = [
    parseNumber(header('retry-after-ms')),
    parseMoment(header('retry-after'), now),
    parseDuration(inWords.exec(body.slice(0, 4000))?.[1]),
  ];
  const found = named.find(isAhead) ?? readResets(header, now);
  return found === undefined ? undefined : Math.min(longestMs, Math.ceil(found));
}

/** The longest wait among the limits that are used up; where none says so, the shortest of all. */
function readResets(header: ReadHeader, now: number): number | undefined {
  const waits = resets.flatMap(([reset, remaining]) => {
    const ms = parseMoment(header(reset), now);
    return isAhead(ms) ? [{ ms, isUsedUp: parseNumber(header(remaining)) === 0 }] : [];
  });
  const usedUp = waits.filter((wait) => wait.isUsedUp);
  if (usedUp.length > 0) return Math.max(...usedUp.map((wait) => wait.ms));
  return waits.length === 0 ? undefined : Math.min(...waits.map((wait) => wait.ms));
}

function isAhead(ms: number | undefined): ms is number {
  return ms !== undefined && Number.isFinite(ms) && ms > 0;
}

function parseNumber(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  return /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : undefined;
}

/** Milliseconds from now: seconds, epoch seconds or milliseconds (told apart by their size), a duration or a date. */
function parseMoment(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const number = parseNumber(text);
  if (number !== undefined) {
    if (number >= 1e11) return number - now;
    return number >= 1e9 ? number * 1000 - now : number * 1000;
  }
  const duration = parseDuration(text);
  if (duration !== undefined) return duration;
  // Dates begin with a weekday or a year; Date.parse would also make years of other texts.
  if (!/^(mon|tue|wed|thu|fri|sat|sun|\d{4}-\d\d-\d\d)/i.test(text.trim())) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date - now;
}

/** `1m30s`, `6ms`, `20 seconds`. */
function parseDuration(text: string | undefined): number | undefined {
  const compact = text?.toLowerCase().replace(/\s+/g, '') ?? '';
  if (!/^(\d+(\.\d+)?[a-z]+)+$/.test(compact)) return undefined;
  let sum = 0;
  for (const [, amount, unit = ''] of compact.matchAll(/(\d+(?:\.\d+)?)([a-z]+)/g)) {
    const unitMs = unitsMs[unit.startsWith('milli') || unit === 'ms' ? 'ms' : unit.charAt(0)];
    if (unitMs === undefined) return undefined;
    sum += Number(amount) * unitMs;
  }
  return sum;
}
