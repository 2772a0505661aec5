import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts';
import { type Mistake, type Place, UsageError } from '../domain/usage-error.ts';
import { type CsvRecord, parseCsv } from './csv.ts';
import {
  type KeepText,
  type Part,
  type Path,
  parseJsonDocument,
  parseYamlDocument,
  type SourceDocument,
  withoutMark,
} from './document.ts';
import { parseJson } from './json-text.ts';

/** One row, and where its parts stand. In `value` further keys are in `meta`; `written` is the row as it was. */
export type Row = {
  readonly written: JsonObject;
  readonly value: JsonObject;
  placeOf(path: Path, part?: Part): Place;
};

type Found = Omit<Row, 'written'>;

/** Keys of a row that have a meaning; a row file's further keys become the row's `meta`. */
export const rowKeys = [
  'id',
  'input',
  'expected',
  'result',
  'expectation',
  'tags',
  'meta',
  'repeats',
  'threshold',
];

/** File name endings that row files may have. */
export const rowFileEndings = ['jsonl', 'ndjson', 'csv', 'yaml', 'yml', 'json'];

/**
 * The rows of a file, by its ending: JSON lines, CSV, a YAML or a JSON list. What is wrong with single rows is told to
 * `refuse`; throws a UsageError where the file cannot be read at all.
 */
export function readRows(text: string, file: string, refuse: (mistake: Mistake) => void): readonly Row[] {
  let refused = 0;
  const rows = rowsOf(text, file, (mistake) => {
    refused++;
    refuse(mistake);
  });
  if (rows.length + refused === 0) throw new UsageError({ message: 'the file has no rows', where: { file } });
  return rows.map(withMeta);
}

function rowsOf(text: string, file: string, refuse: (mistake: Mistake) => void): readonly Found[] {
  const ending = file.split('.').at(-1)?.toLowerCase();
  switch (ending) {
    case 'jsonl':
    case 'ndjson':
      return jsonLines(text, file, refuse);
    case 'csv':
      return csvRows(text, file, refuse);
    case 'yaml':
    case 'yml':
      return listRows(
        parseYamlDocument(text, file, (path) => keepRowText(path.slice(1))),
        file,
        refuse,
      );
    case 'json':
      return listRows(parseJsonDocument(text, file), file, refuse);
    default:
      throw new UsageError({
        message: 'is no row file',
        hint: `endings: ${rowFileEndings.join(', ')}`,
        where: { file },
      });
  }
}

/** Which scalars of a row stay text: ids and tags always, values where a number would lose something. */
export function keepRowText([key]: Path): ReturnType<KeepText> {
  if (key === 'id' || key === 'tags') return 'all';
  return key === 'repeats' || key === 'threshold' ? undefined : 'numbers';
}

function jsonLines(text: string, file: string, refuse: (mistake: Mistake) => void): readonly Found[] {
  // At \n alone: JSON text may hold U+2028, which other splitters take for the end of a line.
  return withoutMark(text)
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const where = { file, line: index + 1 };
      const value = jsonOf(line, (message) => refuse({ message: `not JSON: ${message}`, where }));
      if (value === undefined) return [];
      if (isJsonObject(value)) return [{ value, placeOf: (path: Path) => ({ ...where, ...pathOf(path) }) }];
      refuse({ message: 'a row must be an object', where });
      return [];
    });
}

function jsonOf(line: string, refuse: (message: string) => void): Json | undefined {
  try {
    return parseJson(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    refuse(error.message);
    return undefined;
  }
}

function listRows(
  document: SourceDocument,
  file: string,
  refuse: (mistake: Mistake) => void,
): readonly Found[] {
  const { value } = document;
  if (value === null) return [];
  if (!Array.isArray(value)) {
    throw new UsageError({ message: 'must be a list of rows', where: { ...document.placeOf([]), file } });
  }
  return value.flatMap((row: Json, index) => {
    if (isJsonObject(row))
      return [{ value: row, placeOf: (path: Path, part?: Part) => document.placeOf([index, ...path], part) }];
    refuse({ message: 'a row must be a map', where: document.placeOf([index]) });
    return [];
  });
}

function csvRows(text: string, file: string, refuse: (mistake: Mistake) => void): readonly Found[] {
  const [header, ...records] = csvOrThrow(withoutMark(text), file);
  if (header === undefined) return [];
  const columns = header.cells.map((name) => name.trim());
  const wrong = columns.filter((name, index) => name === '' || columns.indexOf(name) !== index);
  if (wrong.length > 0) {
    const message = `the header has a column without a name, or twice: "${wrong[0]}"`;
    throw new UsageError({ message, where: { file, line: header.line } });
  }
  return records.flatMap(({ line, cells }) => {
    const where = { file, line };
    if (cells.length === columns.length) {
      return [
        { value: rowOfCells(columns, cells), placeOf: (path: Path) => ({ ...where, ...pathOf(path) }) },
      ];
    }
    refuse({ message: `has ${cells.length} cells, the header ${columns.length}`, where });
    return [];
  });
}

function csvOrThrow(text: string, file: string): readonly CsvRecord[] {
  try {
    return parseCsv(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError({ message: `not CSV: ${error.message}`, where: { file } });
  }
}

// Cells are text. Without a column `input`, the columns that have no meaning of their own are the input's keys.
function rowOfCells(columns: readonly string[], cells: readonly string[]): JsonObject {
  const all = columns.map((column, index) => [column, cells[index] ?? ''] as const);
  const known = all.filter(
    ([column, cell]) => rowKeys.includes(column) && (cell !== '' || column === 'input'),
  );
  const others = all.filter(([column]) => !rowKeys.includes(column));
  const row = Object.fromEntries(known.map(([column, cell]) => [column, cellValue(column, cell)]));
  return columns.includes('input')
    ? { ...row, ...Object.fromEntries(others) }
    : { ...row, input: Object.fromEntries(others) };
}

function cellValue(column: string, cell: string): Json {
  if (column === 'tags') return cell.split(/[;|]/).map((tag) => tag.trim());
  const isNumber =
    (column === 'repeats' || column === 'threshold') && cell.trim() !== '' && !Number.isNaN(Number(cell));
  return isNumber ? Number(cell) : cell;
}

function withMeta(found: Found): Row {
  const row = { ...found, written: found.value };
  const entries = Object.entries(row.value);
  const others = entries.filter(([key]) => !rowKeys.includes(key));
  if (others.length === 0) return row;
  const { meta = {} } = row.value;
  const known = entries.filter(([key]) => rowKeys.includes(key));
  const all = isJsonObject(meta) ? { ...Object.fromEntries(others), ...meta } : meta;
  return { ...row, value: { ...Object.fromEntries(known), meta: all } };
}

function pathOf(path: Path): Pick<Place, 'path'> {
  return path.length === 0 ? {} : { path: path.join('.') };
}
