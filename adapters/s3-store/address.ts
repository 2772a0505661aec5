import { UsageError } from '../../domain/usage-error.ts';

/** Where a store lies in a bucket; `prefix` is empty or a path without slashes at its ends. */
export type BucketPlace = { readonly bucket: string; readonly prefix: string };

const scheme = 's3://';

/** Whether an address names a bucket (and not a folder). */
export function isBucketAddress(address: string): boolean {
  return address.startsWith(scheme);
}

/** Reads `s3://BUCKET` or `s3://BUCKET/PREFIX`. Throws `UsageError` for another shape. */
export function parseBucketAddress(address: string): BucketPlace {
  const [bucket = '', ...path] = address.slice(scheme.length).replace(/\/+$/, '').split('/');
  const isOdd = path.some((part) => part === '' || part === '.' || part === '..');
  if (!isBucketAddress(address) || !/^[\w.-]{3,}$/.test(bucket) || isOdd) {
    throw new UsageError({
      message: `"${address}" names no place in a bucket`,
      hint: 's3://BUCKET or s3://BUCKET/PREFIX',
    });
  }
  return { bucket, prefix: path.join('/') };
}
