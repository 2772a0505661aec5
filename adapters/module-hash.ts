import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, extname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { ModuleRef } from '../domain/sweep-spec.ts';
import { type Mistake, UsageError } from '../domain/usage-error.ts';
import { sha256 } from './hash.ts';

/**
 * The hash of a module and of everything that it imports by a relative path, packages and types left out. `file` is
 * relative to the project folder, or absolute. Files are named relative to the module, so that every machine comes
 * to the same hash. Throws `UsageError` with every file that is missing or, by its real path, outside the project.
 */
export async function moduleHash(projectFolder: string, file: string): Promise<ModuleRef> {
  const project = await realpath(projectFolder);
  const entry = resolve(projectFolder, file);
  const contents = new Map<string, string>();
  const mistakes: Mistake[] = [];

  const visit = async (path: string, importer: string | undefined): Promise<void> => {
    const file = await load(project, path);
    if (typeof file === 'string') {
      mistakes.push(refusal(show(path), importer, file));
      return;
    }
    if (contents.has(file.real)) return;
    contents.set(file.real, file.content);
    for (const specifier of isCode(file.real) ? relativeImports(file.content) : []) {
      await visit(resolve(dirname(file.real), specifier), show(file.real));
    }
  };
  const show = (path: string): string =>
    slashed(relative(isInside(project, path) ? project : projectFolder, path));

  await visit(entry, undefined);
  if (mistakes.length > 0) throw new UsageError(mistakes);
  return { file: slashed(relative(resolve(projectFolder), entry)), sha256: hashOf(contents) };
}

/**
 * The relative paths that a TypeScript or JavaScript text imports or exports from, in order. Imports of types alone
 * are left out, as they are gone when it runs.
 */
export function relativeImports(text: string): readonly string[] {
  const code = text.replace(stringOrComment, (match) => (/^['"`]/.test(match) ? match : ' '));
  const fixed = [...code.matchAll(importStatement)].filter(
    (match) => !typesOnly.test(match.groups?.what ?? ''),
  );
  return [...fixed, ...code.matchAll(importCall)]
    .map((match) => match.groups?.from ?? '')
    .filter((from) => /^\.\.?\//.test(from))
    .map((from) => from.replace(/[?#].*$/, ''));
}

/** Strings are matched so that `//` inside one is not taken for a comment. */
const stringOrComment =
  /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** `import './x.ts'`, `import a, { b } from './x.ts'`, `export * from './x.ts'`. */
const importStatement =
  /(?:^|[;}])\s*(?:import|export)\b(?<what>[^'"`;()=]*?\bfrom)?\s*(?<quote>['"])(?<from>[^'"\n]+)\k<quote>/gm;

/** `import('./x.ts')` */
const importCall = /\bimport\s*\(\s*(?<quote>['"])(?<from>[^'"\n]+)\k<quote>\s*[,)]/g;

/** ` type { A } from`, ` type A from`; but neither ` type from` nor ` type, { a } from`. */
const typesOnly = /^\s*type(?:\s*[{*]|\s+(?!from$)\w)/;

/** A file by its real path, or why it is refused. */
async function load(
  project: string,
  path: string,
): Promise<{ readonly real: string; readonly content: string } | string> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return 'is not there';
  if (!isInside(project, real)) return 'is outside the project';
  if (!(await stat(real)).isFile()) return 'is not a file';
  return { real, content: await readFile(real, 'utf8') };
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function isCode(path: string): boolean {
  return ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'].includes(extname(path));
}

function refusal(file: string, importer: string | undefined, reason: string): Mistake {
  if (importer === undefined) return { message: `the module ${file} ${reason}` };
  return { message: `it imports ${file}, which ${reason}`, where: { file: importer } };
}

/** The first file of the map is the module itself. */
function hashOf(contents: ReadonlyMap<string, string>): string {
  const [entry = ''] = contents.keys();
  const lines = [...contents].map(
    ([path, content]) => `${slashed(relative(dirname(entry), path))} ${sha256(content)}\n`,
  );
  return sha256(lines.sort().join(''));
}

function slashed(path: string): string {
  return path.split(sep).join('/');
}
