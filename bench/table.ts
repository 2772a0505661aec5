/** A table as Markdown reads it and a terminal shows it: text to the left, numbers to the right. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isNumber = head.map((_, column) => rows.every((row) => /^[\d.,-]+( x)?$/.test(row[column] ?? '')));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => align(cells[column] ?? '', width, isNumber[column] ?? false)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    isNumber[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [line(head), line(rule), ...rows.map(line), ''].join('\n');
}

function align(text: string, width: number, isNumber: boolean): string {
  return isNumber ? text.padStart(width) : text.padEnd(width);
}

/** What was to be reached, what was, and whether it is enough. */
export type Reach = {
  readonly what: string;
  readonly limit: string;
  readonly value: string;
  readonly reached: boolean;
};

export function formatReaches(reaches: readonly Reach[]): string {
  const rows = reaches.map(({ what, limit, value, reached }) => [what, limit, value, reached ? 'yes' : 'no']);
  return formatTable(['reach', 'limit', 'here', 'reached'], rows);
}
