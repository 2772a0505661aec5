import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createS3Store } from '../../adapters/s3-store/index.ts';
import { pointTo } from './s3-server.ts';

/** What becomes of a request: `drop` cuts it off before it is done, `lose` after; `deny`: 403. */
export type Fate = 'fine' | 'error' | 'slow_down' | 'drop' | 'lose' | 'deny';
export type Asked = { readonly what: 'GET' | 'HEAD' | 'PUT' | 'LIST' | 'DELETE'; readonly key: string };
export type Habits = {
  /** `If-None-Match`. */
  readonly conditions?: 'honoured' | 'ignored' | 'refused';
  /** Whether one request may delete many objects. */
  readonly deletesMany?: boolean;
  /** Keys that one listing shows. */
  readonly pageSize?: number;
  /** Decides before each request, counted from 1. */
  readonly fateOf?: (asked: Asked, count: number) => Fate | Promise<Fate>;
};
export type FakeBucket = {
  readonly name: string;
  readonly objects: Map<string, { readonly body: Buffer; readonly mark?: string; readonly at?: Date }>;
  readonly asked: Asked[];
  habits: Habits;
};
export type FakeS3 = {
  readonly url: string;
  bucket(habits?: Habits): FakeBucket;
  close(): Promise<void>;
};

/** A small S3 server in this process, whose buckets have their habits. Signatures are not looked at. */
export async function startFakeS3(): Promise<FakeS3> {
  const buckets = new Map<string, FakeBucket>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    const [, name = '', ...path] = url.pathname.split('/');
    const key = path.map(decodeURIComponent).join('/');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const bucket = buckets.get(name);
    if (bucket === undefined) send(response, refusal(404, 'NoSuchBucket'));
    else await serve(bucket, { request, response, url, key, body: Buffer.concat(chunks) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bucket(habits = {}) {
      const bucket = { name: `bucket-${buckets.size}`, objects: new Map(), asked: [], habits };
      buckets.set(bucket.name, bucket);
      return bucket;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** How any process opens a store on a fake: patient enough for its troubles, settling in less than a second. */
export function openFakeStore(place: { readonly url: string; readonly address: string }) {
  pointTo(place.url);
  return createS3Store(place.address, { patienceMs: 5_000, settleMs: 400 });
}

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly key: string;
  readonly body: Buffer;
};

async function serve(bucket: FakeBucket, exchange: Exchange): Promise<void> {
  const { response } = exchange;
  const asked = { what: whatOf(exchange), key: exchange.key };
  bucket.asked.push(asked);
  switch ((await bucket.habits.fateOf?.(asked, bucket.asked.length)) ?? 'fine') {
    case 'drop':
      response.destroy();
      break;
    case 'error':
      send(response, refusal(500, 'InternalError'));
      break;
    case 'slow_down':
      send(response, refusal(503, 'SlowDown'));
      break;
    case 'deny':
      send(response, refusal(403, 'AccessDenied'));
      break;
    case 'lose':
      carryOut(bucket, asked, exchange);
      response.destroy();
      break;
    case 'fine':
      send(response, carryOut(bucket, asked, exchange));
  }
}

type Reply = {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
};

function carryOut(bucket: FakeBucket, { what, key }: Asked, { request, url, body }: Exchange): Reply {
  const found = bucket.objects.get(key);
  switch (what) {
    case 'PUT': {
      const { conditions = 'honoured' } = bucket.habits;
      const isConditional = request.headers['if-none-match'] === '*';
      if (isConditional && conditions === 'refused') return refusal(501, 'NotImplemented');
      if (isConditional && conditions === 'honoured' && found) return refusal(412, 'PreconditionFailed');
      const mark = request.headers['x-amz-meta-mark'];
      bucket.objects.set(key, typeof mark === 'string' ? { body, mark } : { body });
      return { status: 200 };
    }
    case 'HEAD':
    case 'GET': {
      if (found === undefined) return refusal(404, 'NoSuchKey');
      const mark: Record<string, string> = found.mark === undefined ? {} : { 'x-amz-meta-mark': found.mark };
      const headers = { etag: etagOf(found.body), ...mark };
      return what === 'GET' ? { status: 200, headers, body: found.body } : { status: 200, headers };
    }
    case 'DELETE':
      if (request.method === 'DELETE') {
        bucket.objects.delete(key);
        return { status: 204 };
      }
      if (bucket.habits.deletesMany === false) return refusal(501, 'NotImplemented');
      for (const [, gone = ''] of body.toString().matchAll(/<Key>(.*?)<\/Key>/gs)) {
        bucket.objects.delete(plain(gone));
      }
      return { status: 200, headers: xml, body: '<DeleteResult/>' };
    case 'LIST':
      return { status: 200, headers: xml, body: listing(bucket, url.searchParams) };
  }
}

const xml = { 'content-type': 'application/xml' };

function listing({ objects, habits }: FakeBucket, query: URLSearchParams): string {
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter')];
  const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const shown = new Map<string, string>();
  for (const key of [...objects.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
    const name = end < 0 ? key : key.slice(0, end + 1);
    if (!key.startsWith(prefix) || Buffer.compare(Buffer.from(name), Buffer.from(after)) <= 0) continue;
    const { body = Buffer.alloc(0), at = new Date() } = objects.get(key) ?? {};
    const facts = `<ETag>${escaped(etagOf(body))}</ETag><Size>${body.length}</Size><LastModified>${at.toISOString()}</LastModified>`;
    const content = `<Contents><Key>${escaped(key)}</Key>${facts}</Contents>`;
    shown.set(name, end < 0 ? content : `<CommonPrefixes><Prefix>${escaped(name)}</Prefix></CommonPrefixes>`);
  }
  const page = [...shown].slice(0, habits.pageSize ?? 1_000);
  const isTruncated = page.length < shown.size;
  const token = isTruncated
    ? `<NextContinuationToken>${escaped(page.at(-1)?.[0] ?? '')}</NextContinuationToken>`
    : '';
  return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${token}${page.map(([, text]) => text).join('')}</ListBucketResult>`;
}

function whatOf({ request, key }: Exchange): Asked['what'] {
  if (request.method === 'POST' || request.method === 'DELETE') return 'DELETE';
  if (request.method === 'GET' && key === '') return 'LIST';
  return request.method === 'PUT' || request.method === 'HEAD' ? request.method : 'GET';
}

function refusal(status: number, code: string): Reply {
  const body = `<Error><Code>${code}</Code><Message>as it was told</Message></Error>`;
  return { status, headers: xml, body };
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, headers).end(body);
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
