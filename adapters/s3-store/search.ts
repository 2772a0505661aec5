import { mapParallel } from '../file-store/parallel.ts';
import type { Bucket, Listed } from './bucket.ts';

export type Search = {
  /** What all the folders' keys begin with. */
  readonly above: string;
  readonly folders: readonly string[];
  /** How the names that are looked for begin. */
  readonly name: string;
};

/** Folders of one lane: a few listings at once, and few that show the same keys. */
const folderLimit = 250;
const lanes = 8;

/**
 * By folder, the objects in it whose names begin so. A listing shows 1,000 keys from any key on, so that folders that
 * lie together cost one request for hundreds of them; in a bucket where they lie far apart it is one a folder.
 */
export async function findInFolders(
  bucket: Bucket,
  { above, folders, name }: Search,
): Promise<ReadonlyMap<string, readonly Listed[]>> {
  const starts = folders.map((folder) => `${folder}/${name}`).toSorted(compareKeys);
  const slices = Array.from({ length: Math.ceil(starts.length / folderLimit) }, (_, index) =>
    starts.slice(index * folderLimit, (index + 1) * folderLimit),
  );
  const objects = await mapParallel(slices, lanes, (slice) => leap(bucket, above, slice));
  return Map.groupBy(objects.flat(), ({ key }) => key.slice(0, key.lastIndexOf('/')));
}

/** The objects whose keys begin with one of `starts`, which are in order. */
async function leap(bucket: Bucket, above: string, starts: readonly string[]): Promise<readonly Listed[]> {
  const found: Listed[] = [];
  let at = 0;
  let seen = '';
  for (;;) {
    const start = starts[at];
    if (start === undefined) return found;
    const { objects, isLast } = await bucket.listPage(above, compareKeys(start, seen) > 0 ? start : seen);
    for (const object of objects) {
      while (isPast(starts[at], object.key)) at += 1;
      const wanted = starts[at];
      if (wanted !== undefined && object.key.startsWith(wanted)) found.push(object);
    }
    const last = objects.at(-1);
    if (isLast || last === undefined) return found;
    seen = last.key;
  }
}

/** Whether all keys that begin so come before `key`. */
function isPast(start: string | undefined, key: string): boolean {
  return start !== undefined && compareKeys(start, key) < 0 && !key.startsWith(start);
}

/** Buckets list keys in the order of their bytes; strings compare by UTF-16 units. */
function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
