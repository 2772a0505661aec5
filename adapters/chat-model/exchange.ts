import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import { type Dispatcher, request } from 'undici';

/** What came back, read whole. */
export type Answer = {
  readonly status: number;
  /** Undefined where it could not be decoded. */
  readonly body: string | undefined;
  readonly header: (name: string) => string | undefined;
};

/** The server answered with another status than 2xx. Not a broken connection. */
export class RefusedAnswer extends Error {
  override readonly name = 'RefusedAnswer';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`HTTP ${answer.status}`);
    this.answer = answer;
  }
}

/** A response whose answer was read already. */
export class ReadResponse extends Response {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(null, { status: 200 });
    this.answer = answer;
  }
}

/** The body was longer than what is read of any. Not a broken connection. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor() {
    super(`a body of more than ${longestBody} bytes`);
  }
}

/** The connection broke while a stream of events was read. Its cause is the error of the connection. */
export class BrokenStream extends Error {
  override readonly name = 'BrokenStream';
}

/** More than any message may have, with room for thoughts and escapes; what comes after is not read. */
const longestBody = 8 * 1024 * 1024;

type RequestParts = {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: unknown;
  readonly signal?: unknown;
};

export const idempotencyHeader = 'idempotency-key';

/**
 * A `fetch` for the client library: sends these headers and no other but the idempotency key, reads the body here, so that the call's signal covers it and its length is
 * bounded, and follows no redirects. Throws `RefusedAnswer` for other statuses than 2xx: the library's own errors
 * keep too little of the body.
 */
export function createFetch(
  dispatcher: Dispatcher,
  headers: Readonly<Record<string, string>>,
): (url: unknown, init?: RequestParts) => Promise<ReadResponse> {
  return async (url, init) => {
    const idempotencyKey = new Headers(init?.headers as Headers).get(idempotencyHeader);
    const response = await request(String(url), {
      dispatcher,
      method: 'POST',
      headers: idempotencyKey === null ? headers : { ...headers, [idempotencyHeader]: idempotencyKey },
      body: init?.body as string,
      signal: init?.signal as AbortSignal,
    });
    const header = (name: string): string | undefined => {
      const value = response.headers[name];
      return typeof value === 'string' ? value : value?.[0];
    };
    const bytes = await readBody(response.body, header('content-type'));
    const answer = { status: response.statusCode, body: decode(bytes, header('content-encoding')), header };
    if (answer.status < 200 || answer.status > 299) throw new RefusedAnswer(answer);
    return new ReadResponse(answer);
  };
}

async function readBody(body: Dispatcher.ResponseData['body'], type = ''): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      // Leaving the loop early closes the connection.
      if (length > longestBody) throw new BodyTooLarge();
    }
  } catch (error) {
    if (error instanceof BodyTooLarge || !type.includes('event-stream')) throw error;
    throw new BrokenStream('a stream of events broke off', { cause: error });
  }
  return Buffer.concat(chunks, length);
}

function decode(bytes: Buffer, encoding = 'identity'): string | undefined {
  const plain = decompress(bytes, encoding.trim().toLowerCase());
  if (plain === undefined || !isUtf8(plain)) return undefined;
  const text = plain.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Nobody is asked to compress, but some do. */
function decompress(bytes: Buffer, encoding: string): Buffer | undefined {
  if (encoding === 'identity' || encoding === '') return bytes;
  try {
    const limit = { maxOutputLength: longestBody };
    if (encoding === 'br') return brotliDecompressSync(bytes, limit);
    return unzipSync(bytes, limit);
  } catch {
    return undefined;
  }
}
