import type { Mistake } from '../../domain/usage-error.ts';
import type { Part, Path } from '../document.ts';
import type { Row } from '../rows.ts';
import type { SweepFileContext } from '../sweep-file/reader.ts';

/** What the sweep says that a transcript does not say itself. */
export type SweepDefaults = {
  readonly repeats: number;
  /** A key of `models`: judges where a transcript names none. */
  readonly judge?: string;
  /** Model ids by the key of their entry. */
  readonly models: ReadonlyMap<string, string>;
};

/** Reads one transcript and tells what is wrong with it. */
export type TranscriptReader = {
  readonly context: SweepFileContext;
  readonly defaults: SweepDefaults;
  readonly row: Row;
  /** What a name in the file refers to, relative to the sweep file's folder. */
  besides(name: string): string;
  refuse(path: Path, message: string, hint?: string, part?: Part): void;
  add(mistake: Mistake): void;
};

/** A reader of the transcript that stands in a file; `file` is relative to the sweep file's folder. */
export function createTranscriptReader(
  row: Row,
  file: string,
  parts: { readonly context: SweepFileContext; readonly defaults: SweepDefaults },
  add: (mistake: Mistake) => void,
): TranscriptReader {
  const folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/') + 1) : '';
  return {
    ...parts,
    row,
    add,
    besides: (name) => (/^(?:[/\\]|[A-Za-z]:)/.test(name) ? name : `${folder}${name.replace(/^\.\//, '')}`),
    refuse: (path, message, hint, part) =>
      add({ message, ...(hint === undefined ? {} : { hint }), where: row.placeOf(path, part) }),
  };
}
