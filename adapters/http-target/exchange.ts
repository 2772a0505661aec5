import { type Dispatcher, request as send } from 'undici';
import { Fault } from '../../domain/fault.ts';
import { type Json, jsonIn } from '../../domain/json.ts';
import { isWholePath } from '../../domain/json-path.ts';
import type { StreamRules } from '../../domain/sweep-spec.ts';
import { readRetryAfter } from '../chat-model/retry-after.ts';
import type { Deadline } from '../deadline.ts';
import { readChatEvents } from './chat-events.ts';
import { networkFault, statusFault } from './faults.ts';
import type { HttpRequest } from './request.ts';
import { type Chunk, readStream, type StreamRead } from './stream.ts';

/** What came back, whatever it is. */
export type RawAnswer = {
  readonly status: number;
  readonly text: string;
  /** Whether the text was read to its end. */
  readonly isWhole: boolean;
  readonly retryAfterMs?: number;
  readonly ms: number;
  /** What an answer that was asked for as a stream carried. */
  readonly stream?: StreamRead;
  readonly contentType: string;
};

/** An answer that was expected. `json` is absent where the text is not JSON, `chunks` where it was no stream. */
export type HttpAnswer = {
  readonly text: string;
  readonly json?: Json;
  readonly chunks?: readonly Chunk[];
  readonly ms: number;
  readonly contentType?: string;
};

/** How the answer to a request is read; of a stream also at which path its chunks hold text. */
export type Expected = {
  /** Absent: any 2xx. */
  readonly status?: number;
  readonly streaming?: { readonly rules: StreamRules; readonly textPath: string };
};

/** A request as messages name it: `POST http://host/path` and its address, without query, password and secrets. */
export type RequestName = { readonly what: string; readonly endpoint: string };

type Redact = (text: string) => string;

/** An answer larger than this is not read to its end. */
const maxBodyBytes = 8 * 1024 * 1024;
const excerptLength = 200;

/** The name of a request. */
export function nameOf({ method, url }: HttpRequest, redact: Redact): RequestName {
  const endpoint = redact(url.origin + url.pathname);
  return { what: `${method} ${endpoint}`, endpoint };
}

/**
 * Sends one request and reads its answer, of any status; follows no redirect. Throws `Fault` where none comes or it
 * breaks off, and the caller's reason where the caller gives up.
 */
export async function exchange(
  request: HttpRequest,
  {
    agent,
    deadline,
    name,
    expected,
  }: {
    readonly agent: Dispatcher;
    readonly deadline: Deadline;
    readonly name: RequestName;
    readonly expected: Expected;
  },
): Promise<RawAnswer> {
  const { url, method, headers, body = null } = request;
  const { signal } = deadline;
  const began = performance.now();
  try {
    const options = { dispatcher: agent, method: method as Dispatcher.HttpMethod, headers, body, signal };
    const response = await send(url, options);
    const contentType = headerText(response.headers['content-type']) ?? '';
    const { statusCode: status } = response;
    const read = await (expected.streaming !== undefined && isExpected(status, expected.status)
      ? readStreamBody(response.body, contentType, expected.streaming)
      : readBody(response.body));
    const retryAfterMs = readRetryAfter(
      (header) => headerText(response.headers[header]),
      read.text,
      Date.now(),
    );
    return {
      status,
      contentType,
      ...read,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ms: performance.now() - began,
    };
  } catch (error) {
    throw signal.aborted ? gaveUp(deadline, name, { unsure: true }) : networkFault(error, name);
  }
}

/** Why a call was given up: a `Fault` timed_out where its time is over, else the caller's reason. */
export function gaveUp(
  deadline: Deadline,
  name: RequestName,
  { unsure }: { readonly unsure: boolean },
): unknown {
  if (!deadline.isOver()) return deadline.signal.reason;
  const message = `${name.what} gave no answer in time (${deadline.ms} ms)`;
  return new Fault('timed_out', message, { blame: 'target', endpoint: name.endpoint, unsure });
}

/** The answer, if it has the expected status (absent: any 2xx) and is not too large; throws `Fault` else. */
export function expectAnswer(
  raw: RawAnswer,
  expected: Expected & { readonly namesSession: boolean },
  { name, redact }: { readonly name: RequestName; readonly redact: Redact },
): HttpAnswer {
  const { status, text, isWhole, ms, stream, contentType } = raw;
  if (!isExpected(status, expected.status)) {
    throw statusFault({
      ...name,
      ...raw,
      expected: expected.status === undefined ? 'a 2xx' : String(expected.status),
      excerpt: excerptOf(text, redact),
      namesSession: expected.namesSession,
    });
  }
  if (!isWhole) {
    const message = `${name.what} answered with more than ${maxBodyBytes} bytes`;
    throw new Fault('too_large', message, { blame: 'target', endpoint: name.endpoint });
  }
  if (stream !== undefined) {
    const read = readChunks(stream, expected);
    if (!('problem' in read)) return { text, ms, contentType, ...read };
    const excerpt = excerptOf(text, redact);
    throw new Fault(
      'bad_reply',
      `${name.what} ${redact(read.problem)}${excerpt === '' ? '' : `: ${excerpt}`}`,
      {
        blame: 'target',
        endpoint: name.endpoint,
      },
    );
  }
  const json = jsonIn(text);
  return { text, ms, contentType, ...(json === undefined ? {} : { json }) };
}

/** Whether a status is the configured one; absent: any 2xx. */
export function isExpected(status: number, expected: number | undefined): boolean {
  return expected === undefined ? status >= 200 && status < 300 : status === expected;
}

/** The start of a text on one line, secrets hidden. */
export function excerptOf(text: string, redact: Redact): string {
  // Redacted before it is cut: half a secret would not be recognised.
  const start = redact(text.slice(0, 16 * excerptLength))
    .replace(/\s+/g, ' ')
    .trim();
  return start.length > excerptLength ? `${start.slice(0, excerptLength)}…` : start;
}

function readChunks(
  { chunks, problem }: StreamRead,
  { streaming }: Expected,
): { readonly chunks: readonly Chunk[] } | { readonly json: Json } | { readonly problem: string } {
  if (problem !== undefined) return { problem };
  if (streaming?.rules.kind !== 'chat_events') return { chunks };
  const read = readChatEvents(chunks);
  return 'problem' in read ? read : { json: read.reply };
}

async function readStreamBody(
  body: AsyncIterable<Buffer>,
  contentType: string,
  { rules, textPath }: NonNullable<Expected['streaming']>,
) {
  const isText = rules.kind === 'rules' && isWholePath(textPath);
  const stream = await readStream(body, { rules, contentType, isText, maxBytes: maxBodyBytes });
  return { text: stream.text, isWhole: stream.isWhole, stream };
}

async function readBody(
  body: AsyncIterable<Buffer>,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop destroys the body, and with it the connection.
    if (size > maxBodyBytes) break;
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  return { text, isWhole: size <= maxBodyBytes };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
