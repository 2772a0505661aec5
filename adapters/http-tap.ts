import type { Dispatcher } from 'undici';

/** A request and what came back, as they went over the wire: secrets included. */
export type HttpExchange = {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Until the whole answer, or the error, was there. */
  readonly ms?: number;
  readonly answer?: { readonly status: number; readonly text: string };
  /** Why there is no whole answer. */
  readonly error?: string;
};

type Filled = { -readonly [Key in keyof HttpExchange]: HttpExchange[Key] };

/** An agent that shows every exchange: each is told when it is sent, and filled in when its answer comes. */
export function tapHttp(agent: Dispatcher, onExchange: (exchange: HttpExchange) => void): Dispatcher {
  return agent.compose((dispatch) => (options, handler) => {
    const exchange: Filled = {
      method: options.method,
      url: new URL(options.path, options.origin).href,
      headers: headersOf(options.headers),
      ...(typeof options.body === 'string' ? { body: options.body } : {}),
    };
    onExchange(exchange);
    return dispatch(options, watching(handler, exchange));
  });
}

function watching(handler: Dispatcher.DispatchHandler, exchange: Filled): Dispatcher.DispatchHandler {
  const began = performance.now();
  const chunks: Buffer[] = [];
  let status = 0;
  let encoding = '';
  const end = () => {
    exchange.ms = performance.now() - began;
    const bytes = Buffer.concat(chunks);
    const isPlain = encoding === '' || encoding === 'identity';
    const text = isPlain ? bytes.toString('utf8') : `(${bytes.length} bytes, ${encoding})`;
    if (status > 0) exchange.answer = { status, text };
  };
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart: (controller, statusCode, headers, message) => {
      status = statusCode;
      encoding = String(headers['content-encoding'] ?? '');
      handler.onResponseStart?.(controller, statusCode, headers, message);
    },
    onResponseData: (controller, chunk) => {
      chunks.push(chunk);
      handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd: (controller, trailers) => {
      end();
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (controller, error) => {
      end();
      exchange.error = error.message === '' ? error.name : error.message;
      handler.onResponseError?.(controller, error);
    },
  };
}

function headersOf(headers: Dispatcher.DispatchOptions['headers']): Readonly<Record<string, string>> {
  if (headers === null || typeof headers !== 'object' || Symbol.iterator in headers) return {};
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}
