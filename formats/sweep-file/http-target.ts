import type { z } from 'zod';
import type { HttpRequestSpec, HttpTarget } from '../../domain/sweep-spec.ts';
import { defaults } from '../defaults.ts';
import type { Path } from '../document.ts';
import { present } from '../present.ts';
import { checkUrl } from './models.ts';
import type { Reader } from './reader.ts';
import type { httpSchema } from './schema.ts';

type RawHttp = z.output<typeof httpSchema>;

/** The requests of an HTTP target. */
export function readHttpTarget(reader: Reader, raw: RawHttp, path: Path): HttpTarget {
  const { auth, start, send, end } = raw;
  return {
    kind: 'http',
    send: {
      ...readRequest(reader, send, [...path, 'send']),
      reply: send.reply,
      ...present({ toolCalls: send.tool_calls, sessionId: send.session_id, metadata: send.metadata }),
    },
    ...present({
      auth: auth && { ...readRequest(reader, auth, [...path, 'auth']), accessToken: auth.access_token },
      start: start && {
        ...readRequest(reader, start, [...path, 'start']),
        ...present({ sessionId: start.session_id, reply: start.reply }),
      },
      end: end && readRequest(reader, end, [...path, 'end']),
    }),
  };
}

function readRequest(reader: Reader, raw: NonNullable<RawHttp['end']>, path: Path): HttpRequestSpec {
  const { url, method = defaults['target.http.*.method'], headers = {}, body, status } = raw;
  checkUrl(reader, url, [...path, 'url']);
  for (const [key, template] of Object.entries({ url, headers, body })) {
    if (template !== undefined) reader.sent(template, { path: [...path, key], place: 'http_target' });
  }
  return { url, method, headers, ...present({ body, status }) };
}
