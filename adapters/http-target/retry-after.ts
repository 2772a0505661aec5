/** Nobody waits longer for a target, whatever it asks for. */
const longestMs = 24 * 60 * 60 * 1000;

/**
 * Milliseconds that a `Retry-After` header asks to wait: seconds (also decimal) or a date. `undefined` where it is
 * absent, cannot be read or lies in the past: then the caller backs off on its own.
 */
export function retryAfterMsOf(
  header: string | readonly string[] | undefined,
  nowMs: number,
): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (text === undefined || text === '') return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - nowMs) / 1000;
  return seconds > 0 ? Math.min(Math.ceil(seconds * 1000), longestMs) : undefined;
}
