import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';

/** The client library, and a client of it. */
export type Connection = {
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly client: S3Client;
};

const settings: S3ClientConfig = {
  // Tries are made in one place, `patience.ts`.
  maxAttempts: 1,
  // Servers that are not AWS refuse the checksums that newer clients add unasked.
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
  followRegionRedirects: true,
  requestHandler: {
    connectionTimeout: 3_000,
    // Of silence, also within a body.
    socketTimeout: 5_000,
    // A worker plays up to 256 conversations.
    httpAgent: { maxSockets: 128 },
    httpsAgent: { maxSockets: 128 },
  },
};

/**
 * Loads the client library and connects by AWS's own rules: credentials, region and endpoint of the environment, of
 * the shared files (profiles, `endpoint_url`), of web identity, of the container or the machine. The region is
 * `us-east-1` where none is set: servers that are not AWS know none. These take the bucket in the path, as most have
 * no host name for each bucket.
 */
export async function connect(): Promise<Connection> {
  const sdk = await import('@aws-sdk/client-s3');
  const region = await regionOf(new sdk.S3Client(settings));
  const host = await hostOf(sdk, new sdk.S3Client({ ...settings, region }));
  const isAws = /\.amazonaws\.com(\.cn)?$/.test(host);
  return { sdk, client: new sdk.S3Client({ ...settings, region, forcePathStyle: !isAws }) };
}

async function regionOf(client: S3Client): Promise<string> {
  try {
    return await client.config.region();
  } catch {
    return process.env.AWS_DEFAULT_REGION || 'us-east-1';
  }
}

/** The host that requests go to. The library tells only requests, so one is made up and stopped before it is sent. */
async function hostOf(sdk: Connection['sdk'], client: S3Client): Promise<string> {
  let host = '';
  client.middlewareStack.add(
    () =>
      ({ request }) => {
        if (hasHost(request)) host = request.hostname;
        return Promise.reject(new Error('not to be sent'));
      },
    { step: 'build', priority: 'low' },
  );
  await client.send(new sdk.ListBucketsCommand({})).catch(() => {});
  return host;
}

function hasHost(request: unknown): request is { readonly hostname: string } {
  return typeof request === 'object' && request !== null && 'hostname' in request;
}
