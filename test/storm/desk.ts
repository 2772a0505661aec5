import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that has come to the desk. */
export type DeskRequest = {
  readonly door: 'start' | 'chat' | 'end';
  readonly conversation: string;
  readonly session: string;
  readonly response: ServerResponse;
};

export type Desk = { readonly url: string; close(): Promise<void> };

type Session = { readonly conversation: string; isOpen: boolean };

/**
 * A support desk with sessions over HTTP on a free port. What it says depends on the conversation and on what it just
 * heard. A closed session is gone (410).
 */
export async function openDesk(latencyMs: number, onRequest: (request: DeskRequest) => void): Promise<Desk> {
  const sessions = new Map<string, Session>();
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const door = doorOf(request.url);
    const id = door === 'start' ? `session-${sessions.size + 1}` : (body.session ?? '');
    if (door === 'start') sessions.set(id, { conversation: body.conversation ?? '', isOpen: true });
    const session = sessions.get(id);
    onRequest({ door, conversation: session?.conversation ?? '', session: id, response });
    const answer = answerTo(door, id, session, body.message);
    if (door === 'end' && session !== undefined) session.isOpen = false;
    setTimeout(() => send(response, answer), latencyMs);
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Answer = { readonly status: number; readonly body: object };

function answerTo(door: DeskRequest['door'], id: string, session: Session | undefined, message = ''): Answer {
  if (session === undefined) return { status: 404, body: { error: `no session ${id}` } };
  switch (door) {
    case 'start':
      return { status: 200, body: { id } };
    case 'end':
      return { status: 200, body: {} };
    case 'chat':
      return session.isOpen
        ? { status: 200, body: { text: `For ${session.conversation} I have noted: ${message}` } }
        : { status: 410, body: { error: `${id} is closed` } };
  }
}

function doorOf(path = ''): DeskRequest['door'] {
  if (path === '/sessions') return 'start';
  return path === '/end' ? 'end' : 'chat';
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, string>>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as Readonly<Record<string, string>>;
}
