import { stripVTControlCharacters } from 'node:util';

/** What ends a text that was cut. */
const cutMark = '…';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

// East Asian wide and fullwidth blocks (Unicode Standard Annex 11). Emoji are told by their property.
const wideBlocks: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
];

/**
 * Text of a model, a target or a file as a terminal may safely show it: no escape sequences, which could redraw the
 * screen or forge output, no control characters, nothing that turns the direction of writing round.
 */
export function safeText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '  ')
    .replace(/[^\P{Cc}\n]|[\u202A-\u202E\u2066-\u2069]/gu, '');
}

/** The same on one line. */
export function oneLine(text: string): string {
  return safeText(text).replace(/\s+/g, ' ').trim();
}

/** How many columns a text without line ends takes; escape sequences take none. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(stripVTControlCharacters(text))) width += widthOfSign(segment);
  return width;
}

function widthOfSign(sign: string): number {
  const code = sign.codePointAt(0) ?? 0;
  if (/^[\p{Mark}\p{Cf}\p{Cc}]/u.test(sign)) return 0;
  if (/\p{Emoji_Presentation}|\uFE0F/u.test(sign)) return 2;
  return wideBlocks.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** A text without escape sequences, cut to so many columns. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return columns < 1 ? '' : `${takeColumns(text, columns - 1)}${cutMark}`;
}

/** The same with both ends kept. */
export function cutMiddle(text: string, columns: number): string {
  if (widthOf(text) <= columns || columns < 4) return cut(text, columns);
  const tail = Math.floor((columns - 1) / 2);
  return `${takeColumns(text, columns - 1 - tail)}${cutMark}${takeLastColumns(text, tail)}`;
}

function takeLastColumns(text: string, columns: number): string {
  let [taken, width] = ['', 0];
  for (const { segment } of [...segmenter.segment(text)].reverse()) {
    width += widthOfSign(segment);
    if (width > columns) break;
    taken = segment + taken;
  }
  return taken;
}

function takeColumns(text: string, columns: number): string {
  let [taken, width] = ['', 0];
  for (const { segment } of segmenter.segment(text)) {
    width += widthOfSign(segment);
    if (width > columns) break;
    taken += segment;
  }
  return taken;
}

/** A text filled up with spaces to so many columns. */
export function pad(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return align === 'left' ? text + space : space + text;
}

/** The lines of a text, each broken between words (or within a long one) to at most so many columns. */
export function wrap(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(2, columns)));
}

function wrapLine(line: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let rest = line.trimEnd();
  while (widthOf(rest) > columns) {
    const head = takeColumns(rest, columns);
    const endsWord = rest[head.length] === ' ';
    const space = endsWord ? head.length : head.lastIndexOf(' ');
    const end = space > 0 && head.slice(0, space).trim() !== '' ? space : head.length;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
