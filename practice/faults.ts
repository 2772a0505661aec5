import type { Role } from '../domain/usage.ts';
import { shareOf } from './choice.ts';

export const faultKinds = [
  'rate429',
  'quota',
  'denied',
  'rate500',
  'contextFull',
  'contentRefused',
  'drop',
  'cut',
  'hang',
  'malformed',
  'hollow',
  'empty',
  'huge',
  'slowBody',
] as const;

/**
 * What can go wrong on purpose.
 * `rate429` 429 with Retry-After; `quota` 429 that says the money is used up; `denied` 401; `rate500` 500;
 * `contextFull`, `contentRefused` 400 as providers word them; `drop` the socket closes without an answer; `cut` it
 * closes half way through the answer; `hang` nothing ever comes; `malformed` 200 with cut off JSON; `hollow` 200
 * without a completion; `empty` a completion without text; `huge` a text of 5 MB; `slowBody` the answer trickles.
 */
export type FaultKind = (typeof faultKinds)[number];

/** The share (0 to 1) of the calls that each fault hits, and how. The shares together are at most 1. */
export type Faults = { readonly [kind in FaultKind]?: number } & {
  /** Seconds in Retry-After; default 1. */
  readonly retryAfterS?: number;
  /** Every N-th call hangs, beside the shares. */
  readonly hangEvery?: number;
  /** How long a slow body takes, in milliseconds; default 1000. */
  readonly slowBodyMs?: number;
  /** Faults begin after this many calls; default 0. */
  readonly afterCalls?: number;
  /** Only calls of these roles are hit; default all. */
  readonly roles?: readonly Role[];
};

/** One call, as far as chance is concerned. */
export type Draw = {
  readonly seed: number;
  readonly role: Role;
  /** Counted from 1, probes apart. */
  readonly call: number;
  /** Identifies the request's content. */
  readonly content: string;
  /** How often this content has come, from 1: a request that was refused once may pass the next time. */
  readonly time: number;
};

/** The fault that a call meets, or none: a pure function of the seed, the content and how often it has come. */
export function faultOf(faults: Faults, draw: Draw): FaultKind | undefined {
  if (draw.call <= (faults.afterCalls ?? 0)) return undefined;
  if (faults.roles !== undefined && !faults.roles.includes(draw.role)) return undefined;
  if (faults.hangEvery !== undefined && draw.call % faults.hangEvery === 0) return 'hang';
  let rest = shareOf(draw.seed, 'fault', draw.content, draw.time);
  return faultKinds.find((kind) => {
    rest -= faults[kind] ?? 0;
    return rest < 0;
  });
}

/** Throws an Error that names the mistake where shares are no shares. */
export function proveFaults(faults: Faults): void {
  const shares = faultKinds.map((kind) => faults[kind] ?? 0);
  if (shares.some((share) => !(share >= 0 && share <= 1)))
    throw new Error('a fault share is a number from 0 to 1');
  const sum = shares.reduce((total, share) => total + share, 0);
  if (sum > 1 + 1e-9) throw new Error(`the fault shares add up to ${sum}: more than 1`);
  if (faults.hangEvery !== undefined && !(Number.isInteger(faults.hangEvery) && faults.hangEvery > 0)) {
    throw new Error('hangEvery is a whole number from 1');
  }
}

export type Refusal = {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
};

/** The error answers, worded like those of hosted providers. Kinds that are not refusals are absent. */
export const refusals: { readonly [kind in FaultKind]?: Refusal } = {
  rate429: {
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for requests per minute. Please try again later.',
  },
  quota: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  denied: {
    status: 401,
    type: 'authentication_error',
    code: 'invalid_api_key',
    message: 'Incorrect API key provided.',
  },
  rate500: {
    status: 500,
    type: 'server_error',
    code: 'internal_error',
    message: 'The server had an error while processing your request.',
  },
  contextFull: {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
  },
  contentRefused: {
    status: 400,
    type: 'invalid_request_error',
    code: 'content_filter',
    message: 'The response was filtered due to the prompt triggering the content management policy.',
  },
};
