import type { Dispatcher } from 'undici';
import type { JsonObject } from '../../domain/json.ts';
import type { ModelSpec } from '../../domain/sweep-spec.ts';
import type { CheckHost } from '../hosts.ts';
import { type Answer, createFetch, ReadResponse } from './exchange.ts';

/** Sends chat completions to one endpoint with one key. */
export type Endpoint = {
  /** Throws `RefusedAnswer` or an error of the connection, wrapped by the client library. */
  post(
    body: JsonObject,
    options: { readonly signal: AbortSignal; readonly idempotencyKey?: string | undefined },
  ): Promise<Answer>;
};

export type EndpointOptions = {
  readonly dispatcher: Dispatcher;
  readonly resolve: (text: string) => string;
  readonly checkHost: CheckHost;
};

/** Headers of the client library that tell of this machine, or that mean nothing here. */
const leftOut = [
  'Lang',
  'Package-Version',
  'OS',
  'Arch',
  'Runtime',
  'Runtime-Version',
  'Retry-Count',
  'Timeout',
];

/** Opens an endpoint. Throws a configuration `Fault` for secrets that may not be used and hosts that may not be called. */
export async function openEndpoint(model: ModelSpec, options: EndpointOptions): Promise<Endpoint> {
  const { dispatcher, resolve, checkHost } = options;
  const baseURL = resolve(model.baseUrl);
  checkHost(new URL(baseURL));
  const headers = Object.entries(model.headers).map(([name, value]) => [name, resolve(value)] as const);
  const apiKey = model.apiKey === undefined ? undefined : resolve(model.apiKey);
  // The library takes a tenth of a second to load: commands that call no model do not wait for it.
  const { OpenAI } = await import('openai');
  const client = new OpenAI({
    baseURL,
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    // The call's own signal keeps time.
    timeout: 2 ** 31 - 1,
    defaultHeaders: {
      'User-Agent': 'regatta',
      ...Object.fromEntries(leftOut.map((name) => [`X-Stainless-${name}`, null])),
      ...(apiKey === undefined ? { Authorization: null } : {}),
      ...Object.fromEntries(headers),
    },
    fetch: createFetch(dispatcher) as unknown as typeof fetch,
  });
  return {
    async post(body, { signal, idempotencyKey }) {
      const response = await client
        .post('/chat/completions', {
          body,
          signal,
          ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
        })
        .asResponse();
      if (!(response instanceof ReadResponse)) throw new Error('the client library did not use our fetch');
      return response.answer;
    },
  };
}
