import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRegex } from '../../adapters/regex.ts';
import { UsageError } from '../../domain/usage-error.ts';

const matching: readonly [string, string, boolean][] = [
  ['refund(ed)?', 'it is refunded', true],
  ['^refund', 'it is refunded', false],
  ['(?P<id>\\d{4})', 'order 4471', true],
  ['(?<id>\\d{4})', 'order 4471', true],
  ['done\\Z', 'all done', true],
  ['\\Adone\\z', 'done', true],
  ['https?:\\/\\/[\\w.-]+', 'see http://a.example', true],
  ['\\u0041\\x42', 'AB', true],
  ['\\u{1F600}', 'ok 😀', true],
  ['\\uD83D\\uDE00', 'ok 😀', true],
  ['\\€5', '€5', true],
  ['(?i)YES', 'yes', true],
  ['(?iu)YES', 'yes', true],
  ['(?a)\\w+', 'yes', true],
  ['(?i:YES) sir', 'yes sir', true],
  ['(?i)YES(?-i: SIR)', 'yes sir', false],
  ['a(?#a comment)b', 'ab', true],
  ['^a{,2}$', 'aa', true],
  ['^a{,2}$', 'aaa', false],
  ['[[:digit:]]+x', '12x', true],
  ['[^]a]b', ']b', false],
  ['[(?=]', '=', true],
  ['\\p{Script=Greek}', 'α', true],
  ['(?s)a.b', 'a\nb', true],
  ['\\(\\?=', 'what (?=', true],
  ['\\[\\^\\]', '[^]', true],
  ['\\Q(?=\\E', '(?=', true],
  ['.', '', false],
];

const refused: readonly [string, RegExp][] = [
  ['(?=refund)', /a look-ahead: \(\?=/],
  ['not(?! refunded)', /a negative look-ahead: \(\?!/],
  ['(?<=EUR )\\d+', /a look-behind: \(\?<=/],
  ['(?<!not )ok', /a negative look-behind: \(\?<!/],
  ['(a)\\1', /a back reference: \\1/],
  ['(?P<q>a)(?P=q)', /a named back reference: \(\?P=q\)/],
  ['(?<q>a)\\k<q>', /a named back reference: \\k<q>/],
  ['(?>a+)b', /an atomic group/],
  ['a++', /possessive or nested repetition/],
  ['(?x) a b', /the flag x/],
  ['(?(1)a|b)', /a conditional group/],
  ['\\h+', /an unknown escape: \\h/],
  ['(a', /missing closing \)/],
  ['[a', /missing closing \]/],
  ['*a', /missing argument to repetition/],
  ['a{2000}', /invalid repeat count/],
];

describe('a pattern', () => {
  for (const [pattern, text, matches] of matching) {
    it(`${pattern} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
      assert.equal(compileRegex(pattern, { ignoreCase: false }).test(text), matches);
    });
  }

  for (const [pattern, message] of refused) {
    it(`${pattern} is refused, and what is wrong is named`, () => {
      assert.throws(
        () => compileRegex(pattern, { ignoreCase: true }),
        (error) => error instanceof UsageError && message.test(error.message),
      );
    });
  }

  it('ignores case where it is told to', () => {
    assert.equal(compileRegex('ÜBER', { ignoreCase: true }).test('über'), true);
  });

  it('that would never end on a backtracking engine ends', () => {
    assert.equal(compileRegex('^(a+)+$', { ignoreCase: false }).test(`${'a'.repeat(5_000)}b`), false);
  });
});
