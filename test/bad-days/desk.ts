import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type DeskCall = { readonly path: string; readonly session: string; readonly turn: number };

/** What a desk does with a call instead of answering well. */
export type Misdeed = 'hang' | 'drop' | 'half' | 'not_json' | 'empty' | 'huge' | 'error500' | 'error401';

/** An agent with sessions over HTTP on a free port, which remembers every call and may misbehave. */
export type Desk = {
  readonly url: string;
  /** Every call, in the order of arrival. */
  readonly calls: readonly DeskCall[];
  readonly inFlight: () => number;
  /** The most calls in flight since the last `forgetPeak`. */
  readonly peak: () => number;
  forgetPeak(): void;
  close(): Promise<void>;
};

export type DeskOptions = {
  readonly latencyMs?: number;
  /** Asked for each call of `/chat`; `time` counts the calls of that session and turn from 1. */
  readonly misdeed?: (call: DeskCall & { readonly time: number }) => Misdeed | undefined;
};

export async function openDesk({
  latencyMs = 30,
  misdeed = () => undefined,
}: DeskOptions = {}): Promise<Desk> {
  const calls: DeskCall[] = [];
  let [sessions, inFlight, peak] = [0, 0, 0];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    inFlight += 1;
    peak = Math.max(peak, inFlight);
    response.once('close', () => {
      inFlight -= 1;
    });
    const path = request.url ?? '';
    if (path === '/sessions') sessions += 1;
    const session = path === '/sessions' ? `desk-${sessions}` : String(body.session ?? '');
    const call = { path, session, turn: Number(body.turn ?? 0) };
    calls.push(call);
    const time = calls.filter(
      (each) => each.path === path && each.session === session && each.turn === call.turn,
    ).length;
    const deed = path === '/chat' ? misdeed({ ...call, time }) : undefined;
    setTimeout(() => answer(response, call, deed), latencyMs);
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    inFlight: () => inFlight,
    peak: () => peak,
    forgetPeak() {
      peak = inFlight;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, call: DeskCall, deed: Misdeed | undefined): void {
  const text = call.path === '/sessions' ? { id: call.session } : { text: `Answer ${call.turn}.` };
  const json = { 'content-type': 'application/json' };
  switch (deed) {
    case undefined:
      return void response.writeHead(200, json).end(JSON.stringify(text));
    case 'hang':
      return;
    case 'drop':
      return void response.destroy();
    case 'half':
      response.writeHead(200, { ...json, 'content-length': '1000' }).write('{"text":"Ans');
      return void setTimeout(() => response.destroy(), 10);
    case 'not_json':
      return void response.writeHead(200, json).end('<html>Please log in</html>');
    case 'empty':
      return void response.writeHead(200, json).end();
    case 'huge':
      return void response.writeHead(200, json).end(JSON.stringify({ text: 'much '.repeat(1_000_000) }));
    case 'error500':
      return void response.writeHead(500, json).end('{"error":"out of order"}');
    case 'error401':
      return void response.writeHead(401, json).end('{"error":"who are you?"}');
  }
}

async function bodyOf(request: IncomingMessage): Promise<{ readonly [name: string]: unknown }> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? {} : (JSON.parse(text) as { readonly [name: string]: unknown });
}
