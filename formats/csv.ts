/** One record of a CSV file; `line` is where it begins, counted from 1. */
export type CsvRecord = { readonly line: number; readonly cells: readonly string[] };

/**
 * Splits CSV (RFC 4180: commas, double quotes, line breaks inside quotes; LF and CRLF alike). Blank lines are left out.
 * Throws a SyntaxError that names the line of a quote that is never closed or is followed by text.
 */
export function parseCsv(text: string): readonly CsvRecord[] {
  // One cell and what ends it; a quoted cell may hold anything, with its quotes doubled.
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;
  const records: CsvRecord[] = [];
  let [line, start] = [1, 1];
  let cells: string[] = [];
  while (cell.lastIndex < text.length || cells.length > 0) {
    const match = cell.exec(text);
    if (match === null)
      throw new SyntaxError(`line ${line}: a quote is not closed, or stands inside a cell without quotes`);
    const [all, quoted, plain = '', end] = match;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += all.split('\n').length - 1;
    if (end === ',') continue;
    const isBlank = cells.length === 1 && quoted === undefined && plain.trim() === '';
    if (!isBlank) records.push({ line: start, cells });
    [cells, start] = [[], line];
  }
  return records;
}
