import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StormRecord } from './storm.ts';

/** Keeps what is needed to see what went wrong: store, logs of the workers, calls, disturbances. */
export async function keepEvidence(
  folder: string,
  { calls, ...record }: StormRecord,
  logs: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  // The store lies on a disk that goes with the storm.
  await cp(join(folder, 'store'), join(folder, 'store-at-the-end'), { recursive: true });
  await writeFile(join(folder, 'calls.jsonl'), calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
  await writeFile(join(folder, 'record.json'), JSON.stringify(record, undefined, 2));
  for (const [name, lines] of logs) await writeFile(join(folder, `worker-${name}.log`), lines.join('\n'));
}
