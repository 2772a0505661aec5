/** A terminal as far as progress uses one: what a person sees after what was written. */
export function aTerminal(columns: number) {
  const rows: string[][] = [[]];
  let [row, column, wraps] = [0, 0, true];

  function put(sign: string): void {
    if (column >= columns) {
      if (!wraps) column = columns - 1;
      else [row, column] = [row + 1, 0];
    }
    rows[row] ??= [];
    const line = rows[row] ?? [];
    while (line.length < column) line.push(' ');
    line[column] = sign;
    column += 1;
  }

  function control(amount: number, letter: string): void {
    if (letter === 'A') row = Math.max(0, row - amount);
    if (letter !== 'J') return;
    rows[row] = (rows[row] ?? []).slice(0, column);
    rows.length = row + 1;
  }

  return {
    write(text: string): void {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
      for (const [part, mode, amount, letter] of text.matchAll(/\u001B\[(\??)(\d*)([A-Za-z])|[\s\S]/gu)) {
        if (letter !== undefined && mode === '?') wraps = letter === 'h';
        else if (letter !== undefined) control(Number(amount || 1), letter);
        else if (part === '\r') column = 0;
        else if (part === '\n') {
          [row, column] = [row + 1, 0];
          rows[row] ??= [];
        } else put(part);
      }
    },
    /** The lines that are seen, without empty ones at the end. */
    screen: () =>
      rows
        .map((line) => line.join('').trimEnd())
        .join('\n')
        .trimEnd()
        .split('\n'),
    cursor: () => ({ row, column }),
  };
}
