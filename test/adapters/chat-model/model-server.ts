import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import type { CallOptions, ChatModels, ChatReply, ChatRequest, Clock } from '../../../activities/ports.ts';
import { createChatModels } from '../../../adapters/chat-model/index.ts';
import { createHttpAgent } from '../../../adapters/http-agent.ts';
import { createPaces } from '../../../adapters/pace.ts';
import { createPrices } from '../../../adapters/prices.ts';
import { Fault } from '../../../domain/fault.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import type { ModelSpec } from '../../../domain/sweep-spec.ts';

export type Seen = { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: JsonObject };

/** Answers one request; `index` counts from 0. */
export type Script = (response: ServerResponse, seen: Seen, index: number) => void;

/** A completion with this message. */
export function completion(message: Json, more: JsonObject = {}): JsonObject {
  return {
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    ...more,
  };
}

/** Answers with JSON (or text as it is). */
export function say(body: Json, status = 200, headers: Record<string, string> = {}): Script {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** The scripts in turn; the last one is repeated. */
export function inTurn(...scripts: readonly Script[]): Script {
  return (response, seen, index) => scripts[Math.min(index, scripts.length - 1)]?.(response, seen, index);
}

export type Bench = {
  readonly models: ChatModels;
  readonly model: ModelSpec;
  readonly seen: readonly Seen[];
  readonly clock: Clock;
  chat(request?: Partial<ChatRequest>, options?: Partial<CallOptions>): Promise<ChatReply>;
  /** The fault of a call. */
  fault(request?: Partial<ChatRequest>, options?: Partial<CallOptions>): Promise<Fault>;
};

/** A model server on loopback that follows a script, and chat models that know it; closed after the test file. */
export async function benchOf(script: Script, spec: Partial<ModelSpec> = {}): Promise<Bench> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as JsonObject;
    const one = { url: request.url ?? '', headers: request.headers, body };
    seen.push(one);
    script(response, one, seen.length - 1);
  });
  const port = await listen(server);
  const dispatcher = createHttpAgent();
  after(async () => {
    server.closeAllConnections();
    server.close();
    await dispatcher.destroy();
  });
  return benchAt({ ...aModel(`http://127.0.0.1:${port}/v1`), ...spec }, dispatcher, seen);
}

/** Chat models that know one model. */
export function benchAt(model: ModelSpec, dispatcher = createHttpAgent(), seen: readonly Seen[] = []): Bench {
  const clock = fastClock();
  const models = createChatModels({
    dispatcher,
    paces: createPaces({ now: Date.now }),
    prices: createPrices(),
    resolve(text) {
      if (!text.includes(`\${OTHER}`)) return text.replaceAll(`\${KEY}`, 'sk-very-secret');
      throw new Fault('denied', 'OTHER is not allowed', { blame: 'configuration' });
    },
    redact: (text) => text.replaceAll('sk-very-secret', `\${KEY}`),
    clock,
    checkHost() {},
  });
  const chat: Bench['chat'] = (request = {}, options = {}) =>
    models.chat(
      model,
      { messages: [{ role: 'user', content: 'hello' }], ...request },
      { signal: new AbortController().signal, timeoutMs: 10_000, order: 1, ...options },
    );
  return {
    models,
    model,
    seen,
    clock,
    chat,
    async fault(request, options) {
      const error = await chat(request, options).then(
        () => new Error('no fault'),
        (reason: unknown) => reason,
      );
      if (error instanceof Fault) return error;
      throw error;
    },
  };
}

/** A clock whose time passes only in sleep. */
export function fastClock(): Clock {
  let now = 1_800_000_000_000;
  return {
    now: () => now,
    async sleep(ms) {
      now += ms;
    },
  };
}

export function aModel(baseUrl: string): ModelSpec {
  return { name: 'gpt', model: 'small-1', baseUrl, headers: {}, params: {}, maxInFlight: 256 };
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
