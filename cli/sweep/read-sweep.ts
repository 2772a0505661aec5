import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sha256 } from '../../adapters/hash.ts';
import { moduleHash } from '../../adapters/module-hash.ts';
import { createPrices } from '../../adapters/prices.ts';
import { compileRegex } from '../../adapters/regex.ts';
import type { ModuleRef } from '../../domain/sweep-spec.ts';
import { type Mistake, UsageError } from '../../domain/usage-error.ts';
import { readSweepWith } from '../../formats/overrides.ts';
import type { AudioFile } from '../../formats/sweep-file/reader.ts';
import type { SweepFileContent, SweepFileContext, SweepSource } from '../../formats/sweep-file.ts';
import type { Shell } from '../shell.ts';
import { overridesOf, type SelectionFlags } from './sweep-flags.ts';

export type ReadSweep = SweepFileContent & {
  /** The folder that modules come from: the current one, or the sweep file's own where that lies elsewhere. */
  readonly project: string;
};

/** Reads a sweep file and all that it names, with the flags applied. Throws `UsageError` with every mistake. */
export async function readSweep(shell: Shell, file: string, flags: SelectionFlags): Promise<ReadSweep> {
  const path = resolve(shell.cwd, file);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const source = isFolder ? folderSource(shell, path, file) : await readSource(path, file);
  const project = await projectOf(shell, isFolder ? join(path, 'any') : path, flags.project);
  const overrides = overridesOf(flags);
  // What flags and messages name of a folder's sweep is relative to where the user stands.
  const folder = isFolder ? shell.cwd : dirname(path);
  const content = await readWithModules({ folder, project }, (context) =>
    readSweepWith(source, context, overrides),
  );
  return { ...content, project };
}

/** The sweep of a folder of transcripts: each of its YAML files, at any depth; flags say what they are played against. */
function folderSource(shell: Shell, path: string, file: string): SweepSource {
  const folder = relative(shell.cwd, path).split(sep).join('/') || '.';
  const name = basename(path)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return { file, value: { name: name || 'transcripts', scenarios: [{ file: `${folder}/**/*.{yaml,yml}` }] } };
}

/** Reads with a context whose files and modules lie in `folder`; modules must be inside the project. */
export async function readWithModules<T>(
  { folder, project }: { readonly folder: string; readonly project: string },
  read: (context: SweepFileContext) => T,
): Promise<T> {
  const wanted = new Set<string>();
  const modules = new Map<string, ModuleRef | Mistake>();
  const context: SweepFileContext = {
    ...fileContext(folder),
    audio: (name) => audioFile(project, resolve(folder, name)),
    moduleRef(name) {
      wanted.add(name);
      return modules.get(name) ?? { file: name, sha256: '' };
    },
  };
  // Hashing a module takes reading it and its imports: the first reading finds out which there are.
  const first = attempt(() => read(context));
  if (wanted.size === 0) return unwrap(first);
  for (const name of wanted) modules.set(name, await refOf(project, resolve(folder, name)));
  return read(context);
}

type Tried<T> = { readonly value: T } | { readonly error: unknown };

function attempt<T>(work: () => T): Tried<T> {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function unwrap<T>(tried: Tried<T>): T {
  if ('error' in tried) throw tried.error;
  return tried.value;
}

/** A file of YAML, JSON or a module's default export, not yet understood. Throws `UsageError` where it cannot be read. */
export async function readSource(path: string, file: string): Promise<SweepSource> {
  const extension = extname(path);
  if (/^\.[cm]?[jt]s$/.test(extension)) return { file, value: await importDefault(path, file) };
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError({
      message: `cannot read ${file}: ${reasonOf(error)}`,
      hint: 'regatta init writes one to begin with',
    });
  });
  return { file, text, format: extension === '.json' ? 'json' : 'yaml' };
}

async function importDefault(path: string, file: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
    if (module.default !== undefined) return module.default;
  } catch (error) {
    throw new UsageError({
      message: `cannot load ${file}: ${error instanceof Error ? error.message : String(error)}`,
    });
  }
  throw new UsageError({
    message: `${file} has no default export`,
    hint: 'export default the sweep as an object',
  });
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'there is no such file';
  if (error.code === 'EISDIR') return 'it is a folder';
  return error.message;
}

function fileContext(folder: string): Omit<SweepFileContext, 'moduleRef'> {
  return {
    readText(name) {
      try {
        return readFileSync(resolve(folder, name), 'utf8');
      } catch {
        return undefined;
      }
    },
    expandGlob: (pattern) =>
      globSync(pattern, { cwd: folder })
        .map((name) => name.split(sep).join('/'))
        .sort(),
    compileRegex,
    hash: sha256,
    priceKnown: createPrices().priceKnown,
  };
}

function audioFile(project: string, path: string): AudioFile | Mistake | undefined {
  const file = relative(project, path);
  if (file.startsWith('..') || isAbsolute(file))
    return { message: `${path} lies outside the project ${project}` };
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const bytes = readFileSync(path);
  return { file: file.split(sep).join('/'), sha256: createHash('sha256').update(bytes).digest('hex'), bytes };
}

async function projectOf(shell: Shell, sweepFile: string, flag: string | undefined): Promise<string> {
  if (flag !== undefined) return resolve(shell.cwd, flag);
  const [folder, cwd] = await Promise.all([realpath(dirname(sweepFile)), realpath(shell.cwd)]);
  const inside = relative(cwd, folder);
  return inside.startsWith('..') || isAbsolute(inside) ? folder : cwd;
}

async function refOf(project: string, path: string): Promise<ModuleRef | Mistake> {
  try {
    return await moduleHash(project, relative(project, path).split(sep).join('/'));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.mistakes[0] ?? { message: error.message };
  }
}

/** `regatta.<project>`: the name in the project folder's package.json, else the folder's name. */
export async function projectQueue(project: string): Promise<string> {
  const name = await readFile(join(project, 'package.json'), 'utf8')
    .then((text) => (JSON.parse(text) as { readonly name?: unknown }).name)
    .catch(() => undefined);
  return `regatta.${typeof name === 'string' && name !== '' ? name : basename(project)}`;
}
