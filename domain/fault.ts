/** Whose fault it is that something broke. */
export type Blame = 'target' | 'driver' | 'judge' | 'infrastructure' | 'configuration';

export type FaultCode =
  | 'rate_limited'
  | 'unavailable'
  | 'timed_out'
  | 'bad_reply'
  | 'denied'
  | 'not_found'
  | 'invalid_request'
  | 'context_full'
  | 'content_refused'
  | 'too_large'
  | 'module_error'
  | 'lost_session'
  | 'unsure_call'
  | 'driver_unfit'
  | 'worker_lost'
  | 'store_unavailable'
  | 'bug';

export type FaultDetails = {
  readonly blame: Blame;
  /** What was called: a model's name, a URL without its query, a file. */
  readonly endpoint?: string;
  /** How long the other side asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The call may have reached the other side: sent, fate unknown. */
  readonly unsure?: boolean;
  /** The answer was whole, but said nothing. */
  readonly wordless?: boolean;
  readonly cause?: unknown;
};

/**
 * Something broke. Thrown by adapters; `activities/faults.ts` alone turns it into a Temporal failure.
 * It is not an ending (a conversation that stopped for a reason), not a verdict, not a usage error and not a bug.
 */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  readonly blame: Blame;
  readonly endpoint: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly unsure: boolean;
  readonly wordless: boolean;

  constructor(code: FaultCode, message: string, details: FaultDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.blame = details.blame;
    this.endpoint = details.endpoint;
    this.retryAfterMs = details.retryAfterMs;
    this.unsure = details.unsure ?? false;
    this.wordless = details.wordless ?? false;
  }
}

/** Faults that trying again cannot mend: somebody must change a key, a name or a request. */
export const configurationCodes: readonly FaultCode[] = ['denied', 'not_found', 'invalid_request'];

/** Whether a fault of this code is one of configuration. */
export function isConfigurationCode(code: FaultCode): boolean {
  return configurationCodes.includes(code);
}
