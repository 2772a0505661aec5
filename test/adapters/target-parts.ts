import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallOptions, TargetCall } from '../../activities/ports.ts';
import type { Blame, FaultCode } from '../../domain/fault.ts';
import { Fault } from '../../domain/fault.ts';
import type { Message } from '../../domain/transcript.ts';

/** A call of the first turn; only what a test names differs. */
export function aCall(more: Partial<TargetCall> = {}): TargetCall {
  return {
    runId: 'sweep/row/1',
    scenario: { id: 'row', input: { name: 'Ada' }, tags: [], meta: {} },
    repeat: 1,
    seed: 7,
    turn: 1,
    transcript: [aMessage('driver', 'hello')],
    latestMessage: 'hello',
    idempotencyKey: 'sweep/row/1/0/1',
    ...more,
  };
}

export function aMessage(by: Message['by'], text: string, turn = 1): Message {
  return { by, turn, text, toolCalls: [] };
}

export function options(more: Partial<CallOptions> = {}): CallOptions {
  return { signal: new AbortController().signal, timeoutMs: 10_000, order: 1, ...more };
}

/** Whether an error is this fault, and says all of `parts`. */
export function isFault(code: FaultCode, blame: Blame, parts: readonly string[] = [], unsure?: boolean) {
  return (error: unknown): boolean => {
    if (!(error instanceof Fault)) throw error;
    const missing = parts.filter((part) => !error.message.includes(part));
    const got = `${error.code}/${error.blame}/${error.unsure}: ${error.message}`;
    if (error.code !== code || error.blame !== blame || missing.length > 0) throw new Error(`got ${got}`);
    if (unsure !== undefined && error.unsure !== unsure) throw new Error(`got ${got}`);
    return true;
  };
}

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

export type Loopback = {
  readonly url: string;
  readonly received: Received[];
  readonly server: Server;
  close(): void;
};

/** A real server on loopback that remembers what it received. */
export async function openLoopback(
  handle: (request: Received, response: ServerResponse) => void,
): Promise<Loopback> {
  const received: Received[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
    received.push(request);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, received, server, close };
}

/** Answers with JSON. */
export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
