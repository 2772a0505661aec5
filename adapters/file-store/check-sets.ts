import { type CheckSet, withCheckSets } from '../../domain/check-set.ts';
import type { SweepRecord } from '../../domain/sweep-record.ts';
import { parseCheckSet } from '../../formats/sweep-record.ts';
import { checkSetFile } from './paths.ts';

/**
 * A planned sweep with the check sets that came after it: files counted from 1 in the sweep's folder, up to the first
 * that is not there. `nameOf` is how errors name a file.
 */
export async function withStoredCheckSets(
  planned: SweepRecord,
  folder: string,
  read: (file: string) => Promise<string | undefined>,
  nameOf: (file: string) => string = (file) => file,
): Promise<SweepRecord> {
  const sets: CheckSet[] = [];
  for (;;) {
    const file = checkSetFile(folder, sets.length + 1);
    const text = await read(file);
    if (text === undefined) return withCheckSets(planned, sets);
    sets.push(parseCheckSet(text, nameOf(file)));
  }
}
