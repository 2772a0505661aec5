import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRegex } from '../../adapters/regex.ts';
import { withUnicodeClasses } from '../../formats/python-regex.ts';

function finds(pattern: string, text: string): boolean {
  return compileRegex(withUnicodeClasses(pattern), { ignoreCase: true }).test(text);
}

describe("a pattern of Python's dialect", () => {
  for (const [pattern, text, expected] of [
    [String.raw`^\w+$`, 'Straße', true],
    [String.raw`^[\w-]+$`, 'né-e', true],
    [String.raw`^\W$`, 'é', false],
    [String.raw`^\d+$`, '٣', true],
    [String.raw`a\sb`, 'a\u00a0b', true],
    [String.raw`a\Sb`, 'a\u2003b', false],
    [String.raw`^[^\s]+$`, 'a\u2003b', false],
    [String.raw`\[\w\]`, '[é]', true],
    ['[]a]', ']', true],
    ['ÉTÉ', 'été', true],
  ] as const)
    it(`${pattern} ${expected ? 'finds' : 'does not find'} ${JSON.stringify(text)}`, () =>
      assert.equal(finds(pattern, text), expected));
});
