import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../domain/json.ts';
import { completeChat } from './chat.ts';
import { proveFaults } from './faults.ts';
import type { Practice, PracticeOptions } from './options.ts';
import { sendError, sendJson } from './send.ts';
import { createTally, type PracticeStats } from './stats.ts';

export type PracticeModel = {
  /** The base URL that clients need: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  readonly port: number;
  stats(): PracticeStats;
  reset(): void;
  /** Drops every open connection. */
  close(): Promise<void>;
};

/** The largest request that is read: 32 MiB. */
const maxBodyBytes = 32 * 2 ** 20;

/**
 * Starts an OpenAI-compatible chat server whose answers are functions of the request and the seed. Throws where
 * the faults are no shares or the port is taken.
 */
export async function startPracticeModel(options: PracticeOptions = {}): Promise<PracticeModel> {
  proveFaults(options.faults ?? {});
  const practice: Practice = { options, tally: createTally() };
  const server = createServer((request, response) => {
    handle(practice, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else
        sendError(
          response,
          400,
          'invalid_request_error',
          error instanceof Error ? error.message : String(error),
        );
    });
  });
  // Node closes idle connections after 5 s, which a client that is about to use one sees as a reset.
  server.keepAliveTimeout = 600_000;
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1', backlog: 4096 }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host ?? '127.0.0.1';
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/v1`,
    port,
    stats: practice.tally.stats,
    reset: practice.tally.reset,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(practice: Practice, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://practice');
  const route = `${request.method} ${url.pathname.replace(/^\/v1(?=\/)/, '')}`;
  switch (route) {
    case 'POST /chat/completions': {
      const body = await readBody(request);
      if (refusesKey(practice, request, response) || body === undefined) return;
      completeChat(practice, { body, hash: hash('sha256', body).slice(0, 24) }, response);
      return;
    }
    case 'GET /models':
      if (!refusesKey(practice, request, response))
        sendJson(response, 200, modelList(practice.options.models));
      return;
    case 'GET /stats': {
      const conversations = url.searchParams.has('conversations')
        ? practice.tally.conversations()
        : undefined;
      return sendJson(response, 200, {
        ...practice.tally.stats(),
        ...(conversations && { by_conversation: conversations }),
      });
    }
    case 'POST /stats/reset':
      practice.tally.reset();
      return sendJson(response, 200, {});
    default:
      request.resume();
      return sendError(response, 404, 'invalid_request_error', `no such route: ${route}`);
  }
}

/** The body's text. Throws where it is too large; undefined where the client left while sending. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  if (bytes > maxBodyBytes) throw new Error('the request is larger than 32 MiB');
  return Buffer.concat(chunks).toString('utf8');
}

function refusesKey(
  { options, tally }: Practice,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (options.apiKey === undefined || request.headers.authorization === `Bearer ${options.apiKey}`)
    return false;
  tally.reject();
  sendError(response, 401, 'authentication_error', 'Incorrect API key provided.', {
    code: 'invalid_api_key',
  });
  return true;
}

function modelList(models: readonly string[] = ['practice']): Json {
  return {
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'practice' })),
  };
}
