import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { root } from '../test-files.ts';

/** One source file of the product. */
export type SourceFile = {
  /** From the checkout's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The text without comments and without what strings say. */
  readonly code: string;
};

export type ImportKind = 'value' | 'type' | 'dynamic';

export type Import = {
  readonly kind: ImportKind;
  /** A package, or a file from the checkout's root without its extension. */
  readonly of: string;
};

/** The folders that the import table speaks of; those that do not exist yet hold no file. */
export const folders = [
  ...['domain', 'formats', 'workflows', 'activities', 'adapters', 'workers'],
  ...['cli', 'practice', 'sdk', 'viewer'],
] as const;

export type Folder = (typeof folders)[number];

/** All source files of a folder, sorted. */
export function sourceFiles(folder: string): readonly SourceFile[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root })
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, code: withoutStrings(withoutComments(text)) };
    });
}

const statement = /^(?:import|export)\b([^;'"]*?)\bfrom\s*'([^']+)'/gm;
const bare = /^import\s*'([^']+)'/gm;
const called = /(typeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g;

/**
 * What a file imports. `import { type A } from` counts as a value: once the types are stripped, the import is still
 * there.
 */
export function importsOf(path: string, text: string): readonly Import[] {
  const code = withoutComments(text);
  const found: Import[] = [];
  const add = (kind: ImportKind, of = '') => found.push({ kind, of: resolveFrom(path, of) });
  for (const [, what = '', of] of code.matchAll(statement))
    add(/^\s*type\s+[{*\w]/.test(what) ? 'type' : 'value', of);
  for (const [, of] of code.matchAll(bare)) add('value', of);
  for (const [whole, typeOf, of] of code.matchAll(called)) {
    const isType =
      typeOf !== undefined || /^\s*\.\s*[A-Z]/.test(code.slice(code.indexOf(whole) + whole.length));
    add(isType ? 'type' : 'dynamic', of);
  }
  return found;
}

function resolveFrom(path: string, of: string): string {
  return of.startsWith('.') ? posix.join(dirname(path), of).replace(/\.ts$/, '') : of;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/(^|\s)\/\/.*$/gm, '$1');
}

function withoutStrings(code: string): string {
  return code.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
}

/** Keeps the line numbers. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, '');
}
