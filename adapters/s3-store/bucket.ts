import type { Delete, ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { storeUnavailable } from '../file-store/files.ts';
import { mapParallel } from '../file-store/parallel.ts';
import type { BucketPlace } from './address.ts';
import { type Connection, connect } from './connection.ts';
import { patiently } from './patience.ts';
import { nameOf, reasonOf, statusOf } from './refusal.ts';

/** An object as a listing shows it. */
export type Listed = {
  readonly key: string;
  /** Without quotes: the MD5 of the content where the bucket's encryption allows. */
  readonly etag: string;
  readonly bytes: number;
  /** When it was put: epoch milliseconds. */
  readonly at: number;
};

export type Page = { readonly objects: readonly Listed[]; readonly isLast: boolean };

export type PutOptions = {
  /** A word kept with the object, by which its writer knows it again. */
  readonly mark?: string;
  /** Ask the server to refuse where the key is taken. */
  readonly ifAbsent?: boolean;
};

/**
 * The few things that a store does with a bucket. Each is tried again while the refusal may pass; then, and for every
 * other refusal, it throws `Fault` store_unavailable, which names the object.
 */
export type Bucket = {
  readonly place: BucketPlace;
  /** How people name an object. */
  addressOf(key: string): string;
  /** The text of an object, or undefined where there is none. */
  read(key: string): Promise<string | undefined>;
  /** `taken`, `unsupported`: only where it was asked for `ifAbsent`. */
  put(key: string, text: string, options?: PutOptions): Promise<'put' | 'taken' | 'unsupported'>;
  /** The mark of an object: empty where it has none, undefined where there is no object. */
  markOf(key: string): Promise<string | undefined>;
  /** The objects whose keys begin so, in the order of their keys' bytes; at most 1,000. */
  listPage(prefix: string, after?: string): Promise<Page>;
  /** All of them. */
  list(prefix: string): Promise<readonly Listed[]>;
  /** What comes next in the keys that begin so, up to a slash. */
  folders(prefix: string): Promise<readonly string[]>;
  remove(keys: readonly string[]): Promise<void>;
};

/** As many keys as one request may delete. */
const deletedAtOnce = 1_000;
const requestsAtOnce = 32;

/** A bucket; connects with the first request. */
export function openBucket(place: BucketPlace, patienceMs: number): Bucket {
  const Bucket = place.bucket;
  const addressOf = (key: string): string => `s3://${Bucket}/${key}`;
  let connection: Promise<Connection> | undefined;

  async function ask<Result>(key: string, work: (to: Connection) => Promise<Result>): Promise<Result> {
    try {
      connection ??= connect();
      const to = await connection;
      return await patiently(patienceMs, () => work(to));
    } catch (error) {
      throw storeUnavailable(addressOf(key), reasonOf(error), error);
    }
  }

  const list = (
    Prefix: string,
    more: { StartAfter?: string; ContinuationToken?: string; Delimiter?: string },
  ) =>
    ask(Prefix, ({ sdk, client }) => client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix, ...more })));

  async function listAll(prefix: string, more: { Delimiter?: string } = {}) {
    const pages = [await list(prefix, more)];
    for (let last = pages[0]; last?.NextContinuationToken !== undefined; last = pages.at(-1)) {
      pages.push(await list(prefix, { ...more, ContinuationToken: last.NextContinuationToken }));
    }
    return pages;
  }

  const removeOne = (Key: string) =>
    ask(Key, ({ sdk, client }) => client.send(new sdk.DeleteObjectCommand({ Bucket, Key })));

  /** Undefined where the server knows no request that deletes many. */
  const removeMany = (first: string, Delete: Delete) =>
    ask(first, ({ sdk, client }) =>
      unless([400, 405, 501], client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete }))),
    );

  async function removeSome(keys: readonly string[]): Promise<void> {
    const [first, second] = keys;
    if (first === undefined) return;
    if (second === undefined) return void (await removeOne(first));
    const done = await removeMany(first, { Objects: keys.map((Key) => ({ Key })), Quiet: true });
    if (done === undefined) return void (await mapParallel(keys, requestsAtOnce, removeOne));
    const [refused] = done.Errors ?? [];
    if (refused === undefined) return;
    throw storeUnavailable(addressOf(refused.Key ?? first), `${refused.Code}: ${refused.Message}`);
  }

  return {
    place,
    addressOf,
    read: (Key) =>
      ask(Key, async ({ sdk, client }) => {
        const found = await unlessMissing(client.send(new sdk.GetObjectCommand({ Bucket, Key })));
        return found?.Body?.transformToString('utf-8');
      }),
    put: (Key, text, { mark, ifAbsent = false } = {}) =>
      ask(Key, async ({ sdk, client }) => {
        const command = new sdk.PutObjectCommand({
          ...{ Bucket, Key, Body: text, ContentLength: Buffer.byteLength(text) },
          ContentType: Key.endsWith('.json') ? 'application/json' : 'application/x-ndjson',
          ...(mark === undefined ? {} : { Metadata: { mark } }),
          ...(ifAbsent ? { IfNoneMatch: '*' } : {}),
        });
        try {
          await client.send(command);
          return 'put';
        } catch (error) {
          if (ifAbsent && statusOf(error) === 412) return 'taken';
          if (ifAbsent && statusOf(error) === 501) return 'unsupported';
          throw error;
        }
      }),
    markOf: (Key) =>
      ask(Key, async ({ sdk, client }) => {
        const found = await unlessMissing(client.send(new sdk.HeadObjectCommand({ Bucket, Key })));
        return found === undefined ? undefined : (found.Metadata?.mark ?? '');
      }),
    async listPage(prefix, after) {
      const page = await list(prefix, after === undefined ? {} : { StartAfter: after });
      return { objects: listedIn(page), isLast: page.IsTruncated !== true };
    },
    list: async (prefix) => (await listAll(prefix)).flatMap(listedIn),
    async folders(prefix) {
      const pages = await listAll(prefix, { Delimiter: '/' });
      const found = pages.flatMap((page) => page.CommonPrefixes ?? []);
      return found.map(({ Prefix = '' }) => Prefix.slice(prefix.length, -1));
    },
    async remove(keys) {
      for (let from = 0; from < keys.length; from += deletedAtOnce) {
        await removeSome(keys.slice(from, from + deletedAtOnce));
      }
    },
  };
}

function listedIn({ Contents = [] }: ListObjectsV2CommandOutput): readonly Listed[] {
  return Contents.flatMap(({ Key, ETag = '', Size = 0, LastModified }) =>
    Key === undefined
      ? []
      : // Of unknown age: as good as new.
        [{ key: Key, etag: ETag.replaceAll('"', ''), bytes: Size, at: LastModified?.getTime() ?? Infinity }],
  );
}

/** A missing object is an answer; a missing bucket is not. */
function unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  return unless([404], work);
}

/** Undefined where the server refuses with one of these. */
async function unless<Result>(
  statuses: readonly number[],
  work: Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    const status = statusOf(error);
    if (status === undefined || !statuses.includes(status) || nameOf(error) === 'NoSuchBucket') throw error;
    return undefined;
  }
}
