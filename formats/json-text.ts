import type { Json } from '../domain/json.ts';

/** Parses JSON text; whole numbers beyond 2^53, which would lose digits, stay text. Throws a SyntaxError. */
export function parseJson(text: string): Json {
  // The reviver costs time: only where a number could be that long.
  return /\d{16}/.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

// The source text of a number is the third argument since V8 11.4; TypeScript does not know it yet.
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isUnsafe = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isUnsafe ? (context?.source ?? value) : value;
}

/** Where a SyntaxError of `JSON.parse` points to, counted from 1; `undefined` where it does not say. */
export function syntaxErrorPlace(
  message: string,
  text: string,
): { readonly line: number; readonly column: number } | undefined {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position === undefined) return undefined;
  const before = text.slice(0, Number(position)).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
