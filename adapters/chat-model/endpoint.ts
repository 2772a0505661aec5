import type { Dispatcher } from 'undici';
import type { JsonObject } from '../../domain/json.ts';
import type { ModelSpec } from '../../domain/sweep-spec.ts';
import type { CheckHost } from '../hosts.ts';
import { type Answer, createFetch, idempotencyHeader, ReadResponse, RefusedAnswer } from './exchange.ts';
import { type CallPlace, faultOfError } from './failure.ts';

/** Sends chat completions to one endpoint with one key. */
export type Endpoint = {
  /** Resolves with an answer of any status. Throws `Fault` where none came. */
  post(
    body: JsonObject,
    place: CallPlace,
    options: { readonly signal: AbortSignal; readonly idempotencyKey?: string | undefined },
  ): Promise<Answer>;
};

export type EndpointOptions = {
  readonly dispatcher: Dispatcher;
  readonly resolve: (text: string) => string;
  readonly checkHost: CheckHost;
};

/** Opens an endpoint. Throws a configuration `Fault` for secrets that may not be used and hosts that may not be called. */
export async function openEndpoint(model: ModelSpec, options: EndpointOptions): Promise<Endpoint> {
  const { dispatcher, resolve, checkHost } = options;
  const url = new URL(resolve(model.baseUrl));
  checkHost(url);
  const headers = headersOf(model, resolve);
  // The library takes a tenth of a second to load: commands that call no model do not wait for it.
  const { OpenAI } = await import('openai');
  const client = new OpenAI({
    baseURL: `${url.origin}${url.pathname}`,
    // Some endpoints take their version from the query.
    defaultQuery: Object.fromEntries(url.searchParams),
    // Like all of the library's own headers, not sent.
    apiKey: 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    // The call's own signal keeps time.
    timeout: 2 ** 31 - 1,
    fetch: createFetch(dispatcher, headers) as unknown as typeof fetch,
  });
  return {
    async post(body, place, { signal, idempotencyKey }) {
      const headers = { [idempotencyHeader]: idempotencyKey ?? null };
      const sent = client.post('/chat/completions', { body, signal, headers }).asResponse();
      return sent.then(answerOf, (error: unknown) => refusedAnswerOf(error, place));
    },
  };
}

/**
 * All headers that are sent, but for the idempotency key. The library's own tell of this machine, and it takes more
 * from OPENAI_CUSTOM_HEADERS, of which the sweep file knows nothing.
 */
function headersOf(model: ModelSpec, resolve: (text: string) => string): Readonly<Record<string, string>> {
  const named = Object.entries(model.headers).map(([name, value]) => [name.toLowerCase(), resolve(value)]);
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'regatta',
    ...(model.apiKey === undefined ? {} : { authorization: `Bearer ${resolve(model.apiKey)}` }),
    ...Object.fromEntries(named),
  };
}

function answerOf(response: unknown): Answer {
  if (response instanceof ReadResponse) return response.answer;
  throw new Error('the client library did not call through our fetch');
}

function refusedAnswerOf(error: unknown, place: CallPlace): Answer {
  if (error instanceof Error && error.cause instanceof RefusedAnswer) return error.cause.answer;
  throw faultOfError(error, place);
}
