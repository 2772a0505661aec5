import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SweepSize = {
  readonly conversations: number;
  readonly window: number;
  readonly turns: number;
  readonly stretch?: string;
};

/** Makes a folder for one measurement, with a sweep of that size in `sweep.yaml`: no checks, so that play is all. */
export async function writeSweep(url: string, size: SweepSize): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'regatta-bench-'));
  await mkdir(join(folder, 'scenarios'));
  const rows = Array.from({ length: size.conversations }, (_, index) =>
    JSON.stringify({ id: `talk-${index + 1}`, input: { number: index + 1 } }),
  );
  await writeFile(join(folder, 'scenarios/rows.jsonl'), `${rows.join('\n')}\n`);
  await writeFile(join(folder, 'sweep.yaml'), sweepText(url, size));
  return folder;
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** The driver's brief names neither a wish nor a fact: the practice driver then talks until the last turn. */
function sweepText(url: string, { window, turns, stretch }: SweepSize): string {
  return `name: bench
models:
  practice:
    model: practice
    base_url: ${url}
    price: { input: 0, output: 0 }
scenarios:
  - file: scenarios/rows.jsonl
driver:
  model: practice
  prompt: You are customer {input.number}.
target:
  chat:
    model: practice
    system: You are a support agent, in talk {input.number}.
conversation:
  max_turns: ${turns}
concurrency: ${window}
${stretch === undefined ? '' : `timeouts:\n  stretch: ${stretch}\n`}`;
}
