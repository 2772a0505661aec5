import type { FaultCode } from './fault.ts';

/** A faulty call, and what came before it. */
export type FailedCall = {
  readonly code: FaultCode;
  /** Who was called: a model (of any role) or a target that is not a chat model. */
  readonly called: 'model' | 'target';
  /** Faulty tries of this call so far, this one included; refused ones (`rate_limited`) do not count. */
  readonly tries: number;
  /** Refusals of this call so far, this one included; default 1. */
  readonly refusals?: number;
  /** How long the faulty tries and the waits between them took, this one included. */
  readonly failingMs: number;
  /** Time of faulty calls and waits of the whole run, this one included. */
  readonly waitedMs: number;
  readonly retryAfterMs: number | undefined;
};

export type RetryLimits = {
  /** Tries of a target that is not a chat model. */
  readonly targetTries: number;
  readonly giveUpMs: number;
};

export type NextTry = { readonly kind: 'again'; readonly waitMs: number } | { readonly kind: 'final' };

/** A model that is out of reach gets this many tries, over at least this time. */
export const modelTries = 8;
export const modelPatienceMs = 10 * 60_000;

const longestWaitMs = 60_000;
const badReplyTries = 3;

/**
 * Whether a faulty call is tried again, and after how many milliseconds (`random` in [0, 1) is the jitter).
 * The table of `docs/faults.md`: waiting for a limit is never a try; configuration is never tried again.
 */
export function nextTry(call: FailedCall, limits: RetryLimits, random: number): NextTry {
  if (call.waitedMs >= limits.giveUpMs) return { kind: 'final' };
  switch (call.code) {
    case 'rate_limited':
      return {
        kind: 'again',
        waitMs: call.retryAfterMs ?? backoffMs(call.tries + (call.refusals ?? 1), random),
      };
    case 'unavailable':
    case 'timed_out': {
      const spent =
        call.called === 'target'
          ? call.tries >= limits.targetTries
          : call.tries >= modelTries && call.failingMs >= modelPatienceMs;
      return spent ? { kind: 'final' } : { kind: 'again', waitMs: waitOf(call, random) };
    }
    case 'bad_reply': {
      const allowed = call.called === 'target' ? limits.targetTries : badReplyTries;
      return call.tries >= allowed ? { kind: 'final' } : { kind: 'again', waitMs: waitOf(call, random) };
    }
    default:
      return { kind: 'final' };
  }
}

function waitOf(call: FailedCall, random: number): number {
  return Math.max(backoffMs(call.tries, random), call.retryAfterMs ?? 0);
}

/** Half a second, doubled with each try, at most a minute; between half and the whole of it by jitter. */
function backoffMs(tries: number, random: number): number {
  const whole = Math.min(longestWaitMs, 500 * 2 ** Math.min(tries - 1, 12));
  return Math.round(whole * (0.5 + random / 2));
}
