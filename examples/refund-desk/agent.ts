import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

// The refund desk of a web shop: a small agent that follows rules, with sessions, two tools, and one mistake in it.

type Order = {
  readonly item: string;
  readonly eur: number;
  readonly days: number;
  readonly status: string;
  refunded?: boolean;
};
type Orders = { readonly [number: string]: Order };
type ToolCall = { readonly name: string; readonly args: object; readonly result: object };
type Reply = { readonly text: string; readonly tool_calls: readonly ToolCall[] };

/** What the desk remembers of one conversation. Every session has orders of its own, so that runs do not meet. */
type Session = { readonly orders: Orders; order?: string; wantsRefund: boolean; hasOffered: boolean };

const thinkingMs = 40;
const refundDays = 30;
const approvalEur = 100;

/** Starts the desk; `port` 0 takes any free one. */
export async function start(port = 0): Promise<{ readonly url: string; close(): Promise<void> }> {
  const orders = JSON.parse(await readFile(new URL('orders.json', import.meta.url), 'utf8')) as Orders;
  const sessions = new Map<string, Session>();
  const server = createServer((request, response) => {
    route({ orders, sessions }, request, response).catch((error: unknown) => {
      send(response, 400, { error: error instanceof Error ? error.message : String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Desk = { readonly orders: Orders; readonly sessions: Map<string, Session> };

async function route(desk: Desk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, place = '', id = ''] = (request.url ?? '').split('/');
  switch (`${request.method} ${place}`) {
    case 'POST sessions': {
      const session = randomUUID();
      desk.sessions.set(session, {
        orders: structuredClone(desk.orders),
        wantsRefund: false,
        hasOffered: false,
      });
      return send(response, 201, { id: session });
    }
    case 'DELETE sessions':
      return send(response, desk.sessions.delete(id) ? 200 : 404, {});
    case 'POST chat': {
      const { session: name, message } = JSON.parse(await textOf(request)) as {
        session: string;
        message: string;
      };
      const session = desk.sessions.get(name);
      if (session === undefined) return send(response, 404, { error: `no session ${name}` });
      await wait(thinkingMs);
      return send(response, 200, answer(session, message));
    }
    default:
      return send(response, 404, { error: 'no such page' });
  }
}

function answer(session: Session, message: string): Reply {
  if (/\b(?:thank|goodbye)/i.test(message)) return say('You are welcome. Goodbye.');
  session.wantsRefund ||= /\brefund|money back/i.test(message);
  const number = /\b\d{4,}\b/.exec(message)?.[0];
  if (number !== undefined && number !== session.order) return lookUp(session, number);
  if (session.order !== undefined) return settle(session, session.order, [], message);
  return say(
    message.includes('!')
      ? 'Calm down. I need your order number.'
      : 'I am sorry to hear that. What is your order number?',
  );
}

function lookUp(session: Session, number: string): Reply {
  const order = session.orders[number];
  const call = { name: 'find_order', args: { order: number }, result: order ?? { error: 'not found' } };
  if (order === undefined)
    return say(`I cannot find an order ${number}. What is the order number on your invoice?`, [call]);
  session.order = number;
  session.hasOffered = false;
  return settle(session, number, [call], '');
}

function settle(session: Session, number: string, calls: readonly ToolCall[], message: string): Reply {
  const order = session.orders[number];
  if (order === undefined) return say('Which order is it about?', calls);
  if (!session.wantsRefund) return say(`Order ${number}, ${order.item}, is ${order.status}.`, calls);
  if (order.refunded) return say(`Order ${number} is refunded already.`, calls);
  if (order.days > refundDays) {
    return say(
      `I am sorry, order ${number} is ${order.days} days old. We cannot refund after ${refundDays} days.`,
      calls,
    );
  }
  if (session.hasOffered && /\b(?:yes|please|do it)\b/i.test(message)) return refund(order, number);
  session.hasOffered = true;
  return say(`I see order ${number}, ${order.item} for ${order.eur} EUR. Shall I refund it?`, calls);
}

function refund(order: Order, number: string): Reply {
  const text = `The ${order.eur} EUR for order ${number} are refunded.`;
  // The mistake: a large sum needs a colleague's approval, which nobody asks for, and the customer is told all the same.
  if (order.eur > approvalEur) return say(text);
  order.refunded = true;
  return say(text, [{ name: 'refund', args: { order: number, eur: order.eur }, result: { refunded: true } }]);
}

function say(text: string, toolCalls: readonly ToolCall[] = []): Reply {
  return { text, tool_calls: toolCalls };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

if (import.meta.main) console.log((await start(Number(process.env.PORT ?? 4020))).url);
