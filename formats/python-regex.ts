const word = String.raw`\p{L}\p{N}_`;
const space = String.raw`\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}`;

const outside: ReadonlyMap<string, string> = new Map([
  [String.raw`\w`, `[${word}]`],
  [String.raw`\W`, `[^${word}]`],
  [String.raw`\s`, `[${space}]`],
  [String.raw`\S`, `[^${space}]`],
  [String.raw`\d`, String.raw`\p{Nd}`],
  [String.raw`\D`, String.raw`\P{Nd}`],
]);

const inClass: ReadonlyMap<string, string> = new Map([
  [String.raw`\w`, word],
  [String.raw`\s`, space],
  [String.raw`\d`, String.raw`\p{Nd}`],
  [String.raw`\D`, String.raw`\P{Nd}`],
]);

/**
 * A pattern of Python's dialect with its classes written out: `\w`, `\d` and `\s` are letters, digits and spaces of every
 * script there. `\W` and `\S` inside of brackets, and `\b`, stay what the engine takes them for: ASCII.
 */
export function withUnicodeClasses(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\[\s\S]|\[\^?\]?|\]/g, (part) => {
    if (part.startsWith('\\')) return (isInClass ? inClass : outside).get(part) ?? part;
    if (part === ']') isInClass = false;
    else if (!isInClass) isInClass = true;
    else if (part.endsWith(']')) isInClass = false;
    return part;
  });
}
