import type { ServerResponse } from 'node:http';
import type { Json } from '../domain/json.ts';
import type { Payload } from './answer.ts';

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  });
  response.end(text);
}

/** Answers with an error in the form that OpenAI's clients read. */
export function sendError(
  response: ServerResponse,
  status: number,
  type: string,
  message: string,
  details: {
    readonly code?: string;
    readonly param?: string;
    readonly headers?: Record<string, string>;
  } = {},
): void {
  const { code = null, param = null, headers } = details;
  sendJson(response, status, { error: { message, type, param, code } }, headers);
}

const slowPieces = 8;
const slowBodyMs = 1000;

/** Answers 200 with a body. */
export function sendPayload(response: ServerResponse, payload: Payload): void {
  sendHead(response, payload);
  response.end(payload.text);
}

/** Promises a whole body, sends half of it and closes the socket. */
export function sendHalf(response: ServerResponse, payload: Payload): void {
  sendHead(response, payload);
  response.write(payload.text.slice(0, payload.text.length / 2), () => response.destroy());
}

/** Sends a body in eight pieces over `ms`, default 1000. */
export function sendSlowly(response: ServerResponse, payload: Payload, ms: number = slowBodyMs): void {
  sendHead(response, payload);
  const size = Math.max(1, Math.ceil(payload.text.length / slowPieces));
  let sent = 0;
  const timer = setInterval(() => {
    const piece = payload.text.slice(sent, sent + size);
    sent += size;
    if (sent < payload.text.length) response.write(piece);
    else response.end(piece);
  }, ms / slowPieces);
  response.once('close', () => clearInterval(timer));
}

function sendHead(response: ServerResponse, { contentType, text }: Payload): void {
  response.writeHead(200, { 'content-type': contentType, 'content-length': String(Buffer.byteLength(text)) });
}
