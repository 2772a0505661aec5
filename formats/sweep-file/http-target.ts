import type { z } from 'zod';
import { isJsonObject, type Json, jsonIn } from '../../domain/json.ts';
import type {
  HttpRequestSpec,
  HttpSend,
  HttpTarget,
  StreamRule,
  StreamRules,
} from '../../domain/sweep-spec.ts';
import { defaults } from '../defaults.ts';
import type { Path } from '../document.ts';
import { present } from '../present.ts';
import { checkUrl } from './models.ts';
import type { Reader } from './reader.ts';
import type { httpSchema } from './schema.ts';

type RawHttp = z.output<typeof httpSchema>;
type RawStreaming = NonNullable<NonNullable<RawHttp['send']>['streaming']>;

/** The requests of an HTTP target; nothing, and a mistake, where it has no way to send a message. */
export function readHttpTarget(reader: Reader, raw: RawHttp, path: Path): HttpTarget | undefined {
  const { auth, start, end } = raw;
  const send = readSend(reader, raw, path);
  if (send === undefined) return undefined;
  return {
    kind: 'http',
    send,
    ...present({
      auth: auth && {
        ...readRequest(reader, auth, [...path, 'auth']),
        accessToken: auth.access_token,
        expiresIn: auth.expires_in ?? defaults['target.http.auth.expires_in'],
      },
      start: start && {
        ...readRequest(reader, start, [...path, 'start']),
        ...present({
          sessionId: start.session_id,
          greeting: start.greeting,
          streaming: start.streaming && rulesOf(start.streaming),
        }),
      },
      end: end && readRequest(reader, end, [...path, 'end']),
    }),
  };
}

function readSend(reader: Reader, { send, chat_events: events }: RawHttp, path: Path): HttpSend | undefined {
  if ((send === undefined) === (events === undefined)) {
    const message =
      send === undefined ? '"send" is missing' : '"send" and "chat_events" cannot both be there';
    reader.refuse(path, message, 'one of send, chat_events');
    return undefined;
  }
  if (events !== undefined) return readChatEvents(reader, events, [...path, 'chat_events']);
  if (send === undefined) return undefined;
  return {
    ...readRequest(reader, send, [...path, 'send']),
    reply: send.reply,
    ...present({
      toolCalls: send.tool_calls,
      sessionId: send.session_id,
      metadata: send.metadata,
      streaming: send.streaming && rulesOf(send.streaming),
    }),
  };
}

/** What a chat endpoint with server-sent events is sent; further fields of the body are the file's own. */
function readChatEvents(reader: Reader, raw: NonNullable<RawHttp['chat_events']>, path: Path): HttpSend {
  const { url, body = {}, ...more } = typeof raw === 'string' ? { url: raw } : raw;
  const place = typeof raw === 'string' ? path : [...path, 'url'];
  const own = { message: '{latest_message}', threadId: '{session_id}' };
  const request = readRequest(reader, { ...more, url, body: { ...own, ...body } }, path, place);
  const paths = { reply: 'text', toolCalls: 'tool_calls', sessionId: 'session_id', metadata: 'metadata' };
  return { ...request, ...paths, streaming: { kind: 'chat_events' } };
}

function rulesOf({ stop = [], select = [] }: RawStreaming): StreamRules {
  return { kind: 'rules', stop: stop.map(ruleOf), select: select.map(ruleOf) };
}

function ruleOf({ value, path }: { readonly value: Json; readonly path?: string }): StreamRule {
  return { value: String(value), ...present({ path }) };
}

function readRequest(
  reader: Reader,
  raw: NonNullable<RawHttp['end']>,
  path: Path,
  urlPath: Path = [...path, 'url'],
): HttpRequestSpec {
  const { url, method = defaults['target.http.*.method'], body, status } = raw;
  const headers = readHeaders(reader, raw.headers, [...path, 'headers']);
  checkUrl(reader, url, urlPath);
  reader.sent(url, { path: urlPath, place: 'http_target' });
  for (const [key, template] of Object.entries({ headers, body })) {
    if (template !== undefined) reader.sent(template, { path: [...path, key], place: 'http_target' });
  }
  return { url, method, headers, ...present({ body, status }) };
}

type Headers = Readonly<Record<string, string>>;

/** A map, or JSON text of one. */
function readHeaders(reader: Reader, raw: Headers | string | undefined, path: Path): Headers {
  if (typeof raw !== 'string') return raw ?? {};
  const value = jsonIn(raw);
  if (isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'))
    return value as Headers;
  reader.refuse(path, 'is no JSON text of a map with texts', 'write a map, or {"x-key": "value"}');
  return {};
}
