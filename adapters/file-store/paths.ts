import { join } from 'node:path';
import { UsageError } from '../../domain/usage-error.ts';

/** The folder of a sweep. Throws `UsageError` where the id cannot name one. */
export function sweepFolder(store: string, sweep: string): string {
  // Names with a leading dot are the store's own temporary ones.
  if (sweep.startsWith('.')) throw notAnId(sweep);
  return join(store, segment(sweep));
}

export function sweepFile(store: string, sweep: string): string {
  return join(sweepFolder(store, sweep), 'sweep.json');
}

export function shardFile(sweepFolder: string, shard: number): string {
  return join(sweepFolder, 'shards', `${numbered(shard)}.json`);
}

/** Where a check set that came after the plan lies. */
export function checkSetFile(sweepFolder: string, number: number): string {
  return join(sweepFolder, 'checks', `${numbered(number)}.json`);
}

export function shardResultsFile(store: string, sweep: string, shard: number): string {
  return join(sweepFolder(store, sweep), 'results', `${numbered(shard)}.jsonl`);
}

export function reportFile(store: string, sweep: string): string {
  return join(sweepFolder(store, sweep), 'report.json');
}

/** The folder of a run, of its id `<sweep>/<scenario>[@variant]/<repeat>`. Throws `UsageError` for another shape. */
export function runFolder(store: string, run: string): string {
  const [sweep, scenario, repeat, ...more] = run.split('/');
  if (sweep === undefined || scenario === undefined || repeat === undefined || more.length > 0) {
    throw notAnId(run);
  }
  return join(sweepFolder(store, sweep), 'runs', segment(scenario), segment(repeat));
}

/** The folder of the sweep that a run belongs to. */
export function sweepFolderOf(store: string, run: string): string {
  return sweepFolder(store, run.split('/')[0] ?? '');
}

export function partFile(runFolder: string, writer: string): string {
  if (!writerPattern.test(writer)) throw notAnId(writer);
  return join(runFolder, `${writer}.jsonl`);
}

/** The writer whose part a file is; undefined for any other file. */
export function writerOf(fileName: string): string | undefined {
  const writer = fileName.endsWith('.jsonl') ? fileName.slice(0, -'.jsonl'.length) : '';
  return writerPattern.test(writer) ? writer : undefined;
}

export function resultFile(runFolder: string, generation: number): string {
  return join(runFolder, `result.${generation}.json`);
}

/** The generation of a result file; undefined for any other file. */
export function generationOf(fileName: string): number | undefined {
  const generation = /^result\.(\d+)\.json$/.exec(fileName)?.[1];
  return generation === undefined ? undefined : Number(generation);
}

/** `<scheduled ms>-<attempt>-<nonce>` */
const writerPattern = /^\d+-\d+-[\w-]+$/;

function numbered(shard: number): string {
  return String(shard).padStart(4, '0');
}

function segment(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a file name cannot hold NUL
  if (text === '' || text === '.' || text === '..' || /[/\\\u0000]/.test(text)) throw notAnId(text);
  return text;
}

function notAnId(text: string): UsageError {
  return new UsageError({ message: `"${text}" is not an id` });
}
