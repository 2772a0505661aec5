import { statSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import type { WorkerDependencies } from '../activities/ports.ts';
import { isBucketAddress } from '../adapters/s3-store/address.ts';
import { createStore } from '../adapters/store.ts';
import { Fault } from '../domain/fault.ts';
import { UsageError } from '../domain/usage-error.ts';

/**
 * Opens the stores that sweeps name. `only` are those that this worker opens, with all that is in their folders; empty:
 * every one. The first of them is that of a sweep which names none. Throws a `Fault` (configuration) for another one, and
 * for a folder that is not there: a worker never makes a store.
 */
export function storesOf(only: readonly string[]): WorkerDependencies['openStore'] {
  return (address = only[0]) => {
    if (address === undefined)
      throw refused('the sweep names no store, and this worker was given no --store');
    if (only.length > 0 && !only.some((place) => isWithin(place, address))) {
      throw refused(`the sweep is in the store ${address}, and this worker opens only ${only.join(', ')}`);
    }
    if (!isBucketAddress(address) && !isFolder(address)) {
      throw refused(`the sweep is in the store ${address}: there is no such folder here; mount it there`);
    }
    return opened(address);
  };
}

function opened(address: string) {
  try {
    return createStore(address);
  } catch (error) {
    throw error instanceof UsageError ? refused(error.message) : error;
  }
}

function isWithin(place: string, address: string): boolean {
  if (isBucketAddress(place) !== isBucketAddress(address)) return false;
  if (isBucketAddress(place)) return `${address}/`.startsWith(place.replace(/\/*$/, '/'));
  const way = relative(place, address);
  return isAbsolute(address) && way.split(/[\\/]/)[0] !== '..' && !isAbsolute(way);
}

function isFolder(address: string): boolean {
  return isAbsolute(address) && (statSync(address, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

function refused(message: string): Fault {
  return new Fault('not_found', message, { blame: 'configuration' });
}
