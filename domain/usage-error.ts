/** Where a mistake is: lines and columns count from 1. */
export type Place = {
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** A path inside the document, for instance `checks.polite.scale`. */
  readonly path?: string;
};

/** One mistake of a user: what is wrong, where, and how to mend it. */
export type Mistake = {
  readonly message: string;
  readonly hint?: string;
  readonly where?: Place;
};

/** The user asked for something that cannot be: carries every mistake at once, is shown without a stack. Not a bug. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: Mistake | readonly Mistake[]) {
    const all = Array.isArray(mistakes) ? (mistakes as readonly Mistake[]) : [mistakes as Mistake];
    super(all.map(describeMistake).join('\n'));
    this.mistakes = all;
  }
}

/** `file:line:column path: message (hint)`; what is unknown is left out. */
export function describeMistake(mistake: Mistake): string {
  const { file, line, column, path } = mistake.where ?? {};
  const position = [file, line, column].filter((part) => part !== undefined).join(':');
  const place = [position, path].filter((part) => part !== undefined && part !== '').join(' ');
  const hint = mistake.hint === undefined ? '' : ` (${mistake.hint})`;
  return `${place === '' ? '' : `${place}: `}${mistake.message}${hint}`;
}
