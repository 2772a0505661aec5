import { type Blame, Fault, type FaultCode } from '../../domain/fault.ts';

/** What an answer that is no reply says about itself. */
export type Refusal = {
  readonly status: number;
  /** What was expected, for people. */
  readonly expected: string;
  readonly retryAfterMs?: number;
  /** The start of the body, secrets hidden. */
  readonly excerpt: string;
  /** `POST http://host/path`, without query and secrets. */
  readonly what: string;
  /** The address, without query and secrets. */
  readonly endpoint: string;
  /** The request named a session that the target had given. */
  readonly namesSession: boolean;
};

/** The fault of a status that was not expected. A broken target is its own fault; a wrong request is configuration. */
export function statusFault(refusal: Refusal): Fault {
  const { status, endpoint, retryAfterMs } = refusal;
  const [code, blame] = codeOf(refusal);
  return new Fault(code, `${refusal.what} answered ${status}${hintFor(refusal)}${quoted(refusal.excerpt)}`, {
    blame,
    endpoint,
    // A gateway that gave up waiting does not know either whether the target heard the message.
    unsure: status === 504,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function codeOf({ status, namesSession }: Refusal): readonly [FaultCode, Blame] {
  if (status === 429) return ['rate_limited', 'infrastructure'];
  if (status >= 500) return ['unavailable', 'target'];
  if ((status === 404 || status === 410) && namesSession) return ['lost_session', 'target'];
  if (status === 404) return ['not_found', 'configuration'];
  if (status === 401 || status === 403) return ['denied', 'configuration'];
  if (status === 400 || status === 422) return ['invalid_request', 'configuration'];
  return ['bad_reply', 'target'];
}

function hintFor({ status, expected }: Refusal): string {
  if (status >= 300 && status < 400) return ' (redirects are not followed: write the final address)';
  return status < 300 || status >= 400 ? ` where ${expected} was expected` : '';
}

function quoted(excerpt: string): string {
  return excerpt === '' ? '' : `: ${excerpt}`;
}

/** The fault of a call that got no answer, or only half of one. */
export function networkFault(
  error: unknown,
  at: { readonly what: string; readonly endpoint: string },
): Fault {
  const problem = problemOf(error);
  const [code, blame, unsure] = kindOf(problem.code);
  return new Fault(code, `${at.what}: ${problem.message}`, {
    blame,
    unsure,
    endpoint: at.endpoint,
    cause: error,
  });
}

/** Nobody was reached, so that nothing can have happened. */
const unreached =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOST|ENET|EADDR|UND_ERR_CONNECT|CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;

function kindOf(code: string): readonly [FaultCode, Blame, boolean] {
  if (unreached.test(code)) return ['unavailable', 'infrastructure', false];
  if (code === 'UND_ERR_INVALID_ARG') return ['invalid_request', 'configuration', false];
  if (code.startsWith('HPE_') || code === 'HTTPParserError') return ['bad_reply', 'target', true];
  return ['unavailable', 'target', true];
}

/** Of several addresses that were tried, the first one's problem speaks for all. */
function problemOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return problemOf(error.errors[0]);
  if (!(error instanceof Error)) return { code: '', message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return { code, message: error.message === '' ? code : error.message };
}
