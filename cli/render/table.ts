import type { Paint } from './style.ts';
import { cut, cutMiddle, oneLine, pad, widthOf, wrap } from './text.ts';

export type Column = {
  /** Above the column; a table without any head has none. */
  readonly head?: string;
  readonly align?: 'left' | 'right';
  /** Longer cells are cut in their middle, as ids differ at their ends; default 32 columns. Not of the last column. */
  readonly widest?: number;
  readonly paint?: Paint;
};

export type Cell = string | number;

export type TableOptions = {
  /** The width of the whole. */
  readonly columns: number;
  /** Spaces before each line; default 2. */
  readonly indent?: number;
  /** On how many lines the last column may go on; default 1. */
  readonly lines?: number;
};

const gap = '  ';
const narrowestLast = 20;

/** Rows under each other, no line wider than `columns`; the last column takes what the others leave. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { columns: width, indent = 2, lines = 1 }: TableOptions,
): readonly string[] {
  if (rows.length === 0) return [];
  const heads = columns.map(({ head }) => head ?? '');
  const hasHead = heads.some((head) => head !== '');
  const texts = rows.map((row) => columns.map((_, index) => oneLine(String(row[index] ?? ''))));
  const all = hasHead ? [heads, ...texts] : texts;
  const widths = widthsOf(columns, all, width - indent);
  return all.flatMap((cells, index) => {
    const isHead = hasHead && index === 0;
    return rowLines(cells, columns, widths, isHead ? 1 : lines, isHead).map((line) =>
      `${' '.repeat(indent)}${line}`.trimEnd(),
    );
  });
}

function widthsOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  total: number,
): readonly number[] {
  const natural = columns.map(({ widest = 32 }, index) => {
    const widestCell = rows.reduce((most, row) => Math.max(most, widthOf(row[index] ?? '')), 0);
    return index === columns.length - 1 ? widestCell : Math.min(widest, widestCell);
  });
  const widths = [...natural];
  const last = columns.length - 1;
  const used = () => widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
  // The widest of the others gives way until the last column has room to say something.
  const wanted = Math.min(natural[last] ?? 0, narrowestLast);
  while (total - used() < wanted) {
    const widest = Math.max(...widths.slice(0, -1));
    if (widest <= 4) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  widths[last] = Math.max(1, Math.min(natural[last] ?? 0, total - used()));
  return widths;
}

function rowLines(
  cells: readonly string[],
  columns: readonly Column[],
  widths: readonly number[],
  mostLines: number,
  isHead: boolean,
): readonly string[] {
  const last = columns.length - 1;
  const tail = fold(cells[last] ?? '', widths[last] ?? 1, mostLines);
  const before = columns.slice(0, -1).map((column, index) => {
    const text = cutMiddle(cells[index] ?? '', widths[index] ?? 1);
    return pad(painted(column, text, isHead), widths[index] ?? 1, column.align);
  });
  const empty = ' '.repeat(widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0));
  return tail.map((text, index) => {
    const end = pad(painted(columns[last], text, isHead), widths[last] ?? 1, columns[last]?.align);
    return index === 0 ? [...before, end].join(gap) : `${empty}${end}`;
  });
}

function painted(column: Column | undefined, text: string, isHead: boolean): string {
  return column?.paint === undefined || isHead ? text : column.paint(text);
}

function fold(text: string, columns: number, mostLines: number): readonly string[] {
  const lines = wrap(text, columns);
  if (lines.length <= mostLines) return lines;
  const rest = lines.slice(mostLines - 1).join(' ');
  return [...lines.slice(0, mostLines - 1), cut(rest, columns)];
}
