import { mapParallel } from '../file-store/parallel.ts';
import { sweepFile, sweepFolder } from '../file-store/paths.ts';
import type { Bucket, Listed } from './bucket.ts';

const requestsAtOnce = 32;

/** How many bytes the objects of a sweep hold. */
export async function sizeOfSweep(bucket: Bucket, sweep: string): Promise<number> {
  return sizeOf(await objectsOf(bucket, sweep));
}

/** Removes a sweep, its record first: what a crash leaves has no record, and is no sweep. */
export async function removeSweep(bucket: Bucket, sweep: string): Promise<void> {
  await bucket.remove([sweepFile(bucket.place.prefix, sweep)]);
  await removeAll(bucket, await objectsOf(bucket, sweep));
}

/**
 * Removes what crashed creators and removals left before a time (epoch milliseconds); returns the bytes it held. A
 * folder with anything in it that no sweep has is somebody else's.
 */
export async function removeLeftovers(bucket: Bucket, before: number): Promise<number> {
  const { prefix } = bucket.place;
  const top = prefix === '' ? '' : `${prefix}/`;
  const probes = (await bucket.list(`${top}.probe-`)).filter(({ at }) => at < before);
  const folders = (await bucket.folders(top)).filter((name) => !name.startsWith('.'));
  const remains = await mapParallel(folders, requestsAtOnce, async (name) => {
    if ((await bucket.markOf(sweepFile(prefix, name))) !== undefined) return [];
    const objects = await objectsOf(bucket, name);
    const isOurs = ({ key, at }: Listed) =>
      at < before && partOfSweep.test(key.slice(`${sweepFolder(prefix, name)}/`.length));
    return objects.every(isOurs) ? objects : [];
  });
  const leftovers = [...probes, ...remains.flat()];
  await removeAll(bucket, leftovers);
  return sizeOf(leftovers);
}

const partOfSweep = /^(?:shards|runs|results)\/|^report\.json$/;

function objectsOf(bucket: Bucket, sweep: string): Promise<readonly Listed[]> {
  return bucket.list(`${sweepFolder(bucket.place.prefix, sweep)}/`);
}

function removeAll(bucket: Bucket, objects: readonly Listed[]): Promise<void> {
  return bucket.remove(objects.map(({ key }) => key));
}

function sizeOf(objects: readonly Listed[]): number {
  return objects.reduce((total, { bytes }) => total + bytes, 0);
}
