import { UsageError } from '../domain/usage-error.ts';

/** A construct at the place where the scanner stands, and what becomes of it. `undefined` as text: it cannot be had. */
type Construct = {
  readonly form: RegExp;
  readonly name?: string;
  readonly text?: (match: RegExpExecArray) => string;
};

// Outside and inside of character classes. The first form that fits counts; what fits none is left as it is.
const escapes: readonly Construct[] = [
  { form: /\\u\{([0-9a-fA-F]{1,6})\}/y, text: ([, hex]) => `\\x{${hex}}` },
  {
    form: /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/iy,
    text: ([, high, low]) => `\\x{${joinSurrogates(high, low)}}`,
  },
  { form: /\\u([0-9a-fA-F]{4})/y, text: ([, hex]) => `\\x{${hex}}` },
  { form: /\\U([0-9a-fA-F]{8})/y, text: ([, hex = '']) => `\\x{${hex.replace(/^00/, '')}}` },
  { form: /\\x(?:[0-9a-fA-F]{2}|\{[0-9a-fA-F]+\})/y, text: ([all]) => all },
  { form: /\\0(?![0-7])/y, text: () => '\\x00' },
  { form: /\\(\d)/y, name: 'a back reference' },
  {
    form: /\\c([A-Za-z])/y,
    text: ([, letter = '']) => `\\x{${(letter.toUpperCase().charCodeAt(0) - 64).toString(16)}}`,
  },
  {
    form: /\\([pP])\{(?:script|sc|script_extensions|scx|general_category|gc)=(\w+)\}/iy,
    text: ([, p, name]) => `\\${p}{${name}}`,
  },
  { form: /\\([^\p{ASCII}])/uy, text: ([, character = '']) => character },
];

const outside: readonly Construct[] = [
  { form: /\\Q(?:(?!\\E)[\s\S])*(?:\\E)?/y, text: ([all]) => all },
  { form: /\\Z/y, text: () => '\\z' },
  { form: /\\k(?:<\w*>|'\w*'|\{\w*\})?|\\g(?:<\w*>|\{-?\w*\})?/y, name: 'a named back reference' },
  { form: /\(\?P=\w*\)?/y, name: 'a named back reference' },
  { form: /\(\?=/y, name: 'a look-ahead' },
  { form: /\(\?!/y, name: 'a negative look-ahead' },
  { form: /\(\?<=/y, name: 'a look-behind' },
  { form: /\(\?<!/y, name: 'a negative look-behind' },
  { form: /\(\?>/y, name: 'an atomic group' },
  { form: /\(\?\(/y, name: 'a conditional group' },
  { form: /\(\?\|/y, name: 'a branch reset group' },
  { form: /\(\?(?:R|&|P>|\d)/y, name: 'a recursive group' },
  { form: /\(\?#[^)]*\)/y, text: () => '' },
  { form: /\(\?[a-zA-Z]*[xL][a-zA-Z]*(?:-[a-zA-Z]+)?[:)]/y, name: 'the flag x (or L)' },
  // Python's `a` and `u` say which letters count; patterns are ASCII classes here in any case.
  {
    form: /\(\?([aimsu]*[au][aimsu]*)(-[ims]+)?([:)])/y,
    text: ([, on = '', off = '', end]) => flagGroup(on.replace(/[au]/g, ''), off, end),
  },
  { form: /\{,(\d+)\}/y, text: ([, most]) => `{0,${most}}` },
  ...escapes,
  { form: /\\([^dDsSwWbBAzpPafnrtvC\W_])/y, name: 'an unknown escape' },
];

const inClass: readonly Construct[] = [
  { form: /\[:\^?\w+:\]/y, text: ([all]) => all },
  { form: /\\b/y, text: () => '\\x08' },
  ...escapes,
  { form: /\\([^dDsSwWpPafnrtv\W_])/y, name: 'an unknown escape' },
];

/**
 * Writes a pattern of Python's or JavaScript's syntax in that of RE2. Throws `UsageError` that names the first
 * construct that RE2 cannot have; anything else that is wrong is left for the compiler to name.
 */
export function toRe2(pattern: string): string {
  let written = '';
  let isInClass = false;
  for (let at = 0; at < pattern.length; ) {
    const opening = isInClass ? null : stickyMatch(/\[\^?\]?/y, pattern, at);
    const known = opening === null ? matchConstruct(isInClass ? inClass : outside, pattern, at) : undefined;
    const taken = opening?.[0] ?? known?.taken ?? takeOne(pattern, at);
    if (opening !== null) isInClass = true;
    else if (isInClass && taken === ']') isInClass = false;
    written += known?.text ?? taken;
    at += taken.length;
  }
  return written;
}

function matchConstruct(constructs: readonly Construct[], pattern: string, at: number) {
  for (const { form, name, text } of constructs) {
    const match = stickyMatch(form, pattern, at);
    if (match === null) continue;
    if (text === undefined) throw unsupported(pattern, match[0], name);
    return { taken: match[0], text: text(match) };
  }
  return undefined;
}

function stickyMatch(form: RegExp, pattern: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(pattern);
}

/** One character, or an escape with the character that it escapes. */
function takeOne(pattern: string, at: number): string {
  return pattern.slice(at, at + (pattern[at] === '\\' ? 2 : 1));
}

function unsupported(pattern: string, construct: string, name = 'something'): UsageError {
  return new UsageError({
    message: `the pattern ${JSON.stringify(pattern)} has ${name}: ${construct}`,
    hint: 'patterns run in linear time (RE2): no look-around, back references, atomic groups or possessive quantifiers',
  });
}

function flagGroup(on: string, off: string, end: string | undefined): string {
  return on === '' && off === '' && end === ')' ? '' : `(?${on}${off}${end}`;
}

function joinSurrogates(high = '', low = ''): string {
  const point = 0x10000 + (Number.parseInt(high, 16) - 0xd800) * 0x400 + (Number.parseInt(low, 16) - 0xdc00);
  return point.toString(16);
}
