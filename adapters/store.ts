import { resolve } from 'node:path';
import type { Store } from '../activities/ports.ts';
import { UsageError } from '../domain/usage-error.ts';
import { createFileStore } from './file-store/index.ts';
import { isBucketAddress, parseBucketAddress } from './s3-store/address.ts';
import { createS3Store } from './s3-store/index.ts';

/** The store at an address: a folder, or `s3://BUCKET/PREFIX` (`UsageError` where that is misspelt). */
export function createStore(address: string): Store {
  return isBucketAddress(address) ? createS3Store(address) : createFileStore(address);
}

/**
 * A store's address as someone typed it while in `folder`: folders become absolute, a bucket's stays. Throws
 * `UsageError` for what is neither.
 */
export function resolveStore(folder: string, address: string): string {
  if (isBucketAddress(address)) {
    parseBucketAddress(address);
    return address;
  }
  if (/^[a-z][\w+.-]*:\/\//i.test(address)) {
    throw new UsageError({
      message: `no store is known at "${address}"`,
      hint: 'a folder, or s3://BUCKET/PREFIX',
    });
  }
  return resolve(folder, address);
}
