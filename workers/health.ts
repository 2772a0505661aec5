import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { UsageError } from '../domain/usage-error.ts';

export type Readiness = {
  readonly ready: boolean;
  /** Why not; empty when ready. */
  readonly reasons: readonly string[];
};

export type HealthServerOptions = {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host: string;
  /** The worker's own metrics, in the text format 0.0.4. */
  readonly metricsText: () => Promise<string>;
  /** The page of the Temporal core's exporter, which is added to the worker's own. */
  readonly coreUrl: string | undefined;
  readonly ready: () => Readiness;
};

export type HealthServer = { readonly port: number; close(): Promise<void> };

type Answer = { readonly status: number; readonly type: string; readonly body: string };

const textFormat = 'text/plain; version=0.0.4; charset=utf-8';
const coreTimeoutMs = 2_000;

/**
 * Serves `/metrics`, `/healthz` (this process runs) and `/readyz` (it can take work; 503 with the reasons where not).
 * Throws a `UsageError` where the port cannot be had.
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(request, options).then(
      (content) => send(response, content),
      (error) => send(response, { status: 500, type: 'text/plain', body: `${messageOf(error)}\n` }),
    );
  });
  await listen(server, options);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    close: () => close(server),
  };
}

async function answer(request: IncomingMessage, options: HealthServerOptions): Promise<Answer> {
  const text = { status: 200, type: 'text/plain' };
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { ...text, status: 405, body: 'only GET\n' };
  }
  switch (request.url?.replace(/\?.*/, '')) {
    case '/metrics':
      return { ...text, type: textFormat, body: await metricsPage(options) };
    case '/healthz':
      return { ...text, body: 'ok\n' };
    case '/readyz': {
      const readiness = options.ready();
      const status = readiness.ready ? 200 : 503;
      return { status, type: 'application/json', body: `${JSON.stringify(readiness)}\n` };
    }
    default:
      return { ...text, status: 404, body: '/metrics, /healthz or /readyz\n' };
  }
}

/** Both pages: their prefixes differ, so nothing is there twice. */
async function metricsPage({ metricsText, coreUrl }: HealthServerOptions): Promise<string> {
  const pages = [metricsText(), ...(coreUrl === undefined ? [] : [corePage(coreUrl)])];
  return (await Promise.all(pages)).map((page) => `${page.trimEnd()}\n`).join('');
}

async function corePage(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(coreTimeoutMs) });
    if (response.ok) return await response.text();
    await response.body?.cancel();
    return `# Temporal's metrics are left out: status ${response.status}`;
  } catch (error) {
    return `# Temporal's metrics are left out: ${messageOf(error).replaceAll('\n', ' ')}`;
  }
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

function listen(server: Server, { port, host }: HealthServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(asUsage(error, `${host}:${port}`)));
    server.listen(port, host, resolve);
  });
}

function asUsage(error: NodeJS.ErrnoException, place: string): Error {
  const hint = 'choose another --metrics-port: 0 for any, off for none';
  switch (error.code) {
    case 'EADDRINUSE':
      return new UsageError({ message: `${place} is in use, so metrics cannot be served there`, hint });
    case 'EACCES':
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UsageError({ message: `metrics cannot be served at ${place}: ${error.message}`, hint });
    default:
      return error;
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
