import { Fault, type FaultCode } from '../../domain/fault.ts';
import { type Complaint, isWorded, readComplaint } from './complaint.ts';
import { type Answer, BodyTooLarge, BrokenStream } from './exchange.ts';
import {
  contentRefused,
  contextFull,
  cutShort,
  modelGarbage,
  quotaUsedUp,
  requestTooLarge,
  soonFreeAgain,
} from './failure-table.ts';
import { readRetryAfter } from './retry-after.ts';
import type { Ability } from './traits.ts';

/**
 * What a model's fault was made of (`cause`): the status of an answer, an ability that the endpoint was found to
 * lack, a model that used up its tokens before it had said anything, or an error of the connection.
 */
export type ModelFaultCause =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'ability'; readonly ability: Ability; readonly status: number }
  | { readonly kind: 'cut_short'; readonly status: number }
  | { readonly kind: 'connection'; readonly code: string };

/** Whom a call was for, and how to speak of it. */
export type CallPlace = {
  /** `<model name> at <base url>` */
  readonly endpoint: string;
  readonly redact: (text: string) => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

type Details = {
  readonly retryAfterMs?: number | undefined;
  readonly unsure?: boolean;
  readonly wordless?: boolean;
  readonly cause: ModelFaultCause;
};

/** A fault of a call: what, to what, what came back. */
export function modelFault(code: FaultCode, what: string, place: CallPlace, details: Details): Fault {
  const isConfiguration = code === 'denied' || code === 'not_found' || code === 'invalid_request';
  const { retryAfterMs, unsure = false, wordless = false, cause } = details;
  return new Fault(code, `chat with ${place.endpoint}: ${what}`, {
    blame: isConfiguration ? 'configuration' : 'infrastructure',
    endpoint: place.endpoint,
    unsure,
    wordless,
    cause,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The fault of an answer that is no completion; `code` where its status does not say enough. */
export function faultOfAnswer(
  answer: Answer,
  place: CallPlace,
  code?: FaultCode,
  reason?: string,
  wordless = false,
): Fault {
  const { status } = answer;
  const complaint = readComplaint(answer.body ?? '');
  const retryAfterMs = readRetryAfter(answer.header, answer.body ?? '', place.now());
  const said = code ?? codeOf(status, complaint, retryAfterMs);
  const isCutShort = said === 'bad_reply' && cutShort.test(complaint.message);
  return modelFault(said, describeAnswer(answer, place, reason), place, {
    retryAfterMs: said === 'rate_limited' || said === 'unavailable' ? retryAfterMs : undefined,
    wordless,
    cause: { kind: isCutShort ? 'cut_short' : 'status', status },
  });
}

/** `HTTP 429: ` and the first 200 characters of the body, without secrets. */
export function describeAnswer({ status, body }: Answer, { redact }: CallPlace, reason?: string): string {
  const shown = redact((body ?? '(undecodable)').slice(0, 2000))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 200);
  const why = reason === undefined ? '' : `, ${reason}`;
  return `HTTP ${status}${why}: ${shown === '' ? '(empty body)' : shown}`;
}

/** What an answer comes to that is no completion, by its status and its words. */
export function codeOf(status: number, complaint: Complaint, retryAfterMs: number | undefined): FaultCode {
  if (status < 400) return 'bad_reply';
  if (status === 429) return codeOf429(complaint, retryAfterMs);
  if (status === 401) return 'denied';
  if (status === 413 || isWorded(complaint, contextFull)) return 'context_full';
  if (isWorded(complaint, contentRefused)) return 'content_refused';
  if (isWorded(complaint, modelGarbage) || cutShort.test(complaint.message)) return 'bad_reply';
  if (status >= 500) return 'unavailable';
  if (status === 402 || status === 403 || isWorded(complaint, quotaUsedUp)) return 'denied';
  if (status === 404 || status === 405 || status === 410) return 'not_found';
  if (status === 408 || status === 409 || status === 425) return 'unavailable';
  return 'invalid_request';
}

function codeOf429(complaint: Complaint, retryAfterMs: number | undefined): FaultCode {
  if (requestTooLarge.test(complaint.message)) return 'context_full';
  const isUsedUp = isWorded(complaint, quotaUsedUp) && !soonFreeAgain.test(complaint.message);
  return isUsedUp && retryAfterMs === undefined ? 'denied' : 'rate_limited';
}

/** Codes of connections that were never made: nothing was sent. */
const neverSent = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Codes of requests that cannot be sent: a URL or a header that is none. */
const unsendable = ['ERR_INVALID_URL', 'ERR_INVALID_CHAR', 'UND_ERR_INVALID_ARG'];

/** The fault of a call that threw; `error` may be wrapped by the client library. */
export function faultOfError(thrown: unknown, place: CallPlace): Fault {
  const causes = causesOf(thrown);
  for (const error of causes) {
    if (error instanceof Fault) return error;
    if (error instanceof BodyTooLarge) return modelFault('too_large', error.message, place, noAnswer(''));
    if (error instanceof BrokenStream) {
      return modelFault('bad_reply', error.message, place, { ...noAnswer(''), unsure: true });
    }
  }
  return faultOfConnection(causes.at(-1), place);
}

function faultOfConnection(error: unknown, place: CallPlace): Fault {
  const {
    code = '',
    message = '',
    name = '',
  } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  const what = place.redact([code, message].filter((part) => part !== '').join(' ')).slice(0, 300);
  if (unsendable.includes(code)) return modelFault('invalid_request', what, place, noAnswer(code));
  // The server does not speak HTTP.
  if (name === 'HTTPParserError')
    return modelFault('bad_reply', what, place, { ...noAnswer(code), unsure: true });
  const unsure = !neverSent.includes(code) && !/CERT|TLS|SSL/.test(code);
  return modelFault('unavailable', what, place, { ...noAnswer(code), unsure });
}

function noAnswer(code: string): Details {
  return { cause: { kind: 'connection', code } };
}

/** An error and its causes, outermost first. */
function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  // Several addresses of a host that all failed: the first says enough.
  const next = (one: unknown): unknown =>
    one instanceof AggregateError ? one.errors[0] : one instanceof Error ? one.cause : undefined;
  for (let one = error; one !== undefined && causes.length < 5; one = next(one)) causes.push(one);
  return causes;
}
