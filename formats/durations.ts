const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** What a duration looks like: a number with a unit, or a plain number of seconds. */
export const durationPattern = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)?$/;

/** `500ms`, `60s`, `15m`, `24h`, `7d`, or seconds as a plain number, in milliseconds; `undefined` for anything else. */
export function durationMs(written: string | number): number | undefined {
  if (!durationPattern.test(String(written))) return undefined;
  const [, amount = '', unit = 's'] = /^([\d.]+)(\D*)$/.exec(String(written)) ?? [];
  return Math.round(Number(amount) * unitMs[(unit || 's') as keyof typeof unitMs]);
}
