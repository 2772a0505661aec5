import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count, countOf, duration, money, pace, percent, shortCount } from '../../../cli/render/numbers.ts';
import { createStyle, paintWord } from '../../../cli/render/style.ts';
import { table } from '../../../cli/render/table.ts';
import { cut, cutMiddle, oneLine, pad, safeText, widthOf, wrap } from '../../../cli/render/text.ts';

describe('text on a terminal', () => {
  it('takes two columns for wide characters and none for marks', () => {
    assert.deepEqual(['abc', '日本', 'é', '👍', '한글', ''].map(widthOf), [3, 4, 1, 2, 4, 0]);
  });

  it('cannot redraw the screen or forge other output', () => {
    assert.equal(safeText('a\u001B[2J\u001B]0;title\u0007b\u0000c\r\nd\u202Ee'), 'abc\nde');
    assert.equal(oneLine(' a\n\n b\tc '), 'a b c');
  });

  it('is cut at a column, never inside a character', () => {
    assert.equal(cut('日本語', 4), '日…');
    assert.equal(cut('abc', 3), 'abc');
    assert.equal(cutMiddle('scenario-with-a-long-name-17', 15), 'scenari…name-17');
  });

  it('is wrapped between words, and inside a word that is too long', () => {
    assert.deepEqual(wrap('one two three\nfour', 8), ['one two', 'three', 'four']);
    assert.deepEqual(wrap('abcdefghij kl', 4), ['abcd', 'efgh', 'ij', 'kl']);
    assert.deepEqual(wrap('日本語です', 4), ['日本', '語で', 'す']);
  });

  it('is filled up by columns, not by characters', () => {
    assert.equal(`${pad('日本', 6)}|${pad('x', 3, 'right')}`, '日本  |  x');
  });
});

describe('numbers for people', () => {
  it('show times in their two largest units', () => {
    const times = [0, 999, 1_200, 9_960, 61_000, 3_600_000, 7_500_000, 273_600_000];
    assert.deepEqual(times.map(duration), [
      ...['0 ms', '999 ms', '1.2 s', '10 s', '1 min 1 s', '1 h', '2 h 5 min', '3 d 4 h'],
    ]);
  });

  it('show money below a cent, and never as nothing', () => {
    assert.deepEqual([0, 0.000057, 0.05, 1234.5].map(money), ['$0.00', '$0.000057', '$0.05', '$1,234.50']);
  });

  it('show counts, shares and rates shortly', () => {
    assert.deepEqual([999, 12_345, 999_700, 4_561_000].map(shortCount), ['999', '12.3k', '1M', '4.56M']);
    assert.deepEqual([count(12_345), countOf(1, 'run'), countOf(2, 'run')], ['12,345', '1 run', '2 runs']);
    assert.deepEqual([percent(0.8789), percent(1), percent(null)], ['87.9 %', '100 %', '-']);
    assert.deepEqual([8.34, 343.2, 0.2].map(pace), ['8.3 runs/s', '343 runs/s', '12 runs/min']);
  });
});

describe('a table', () => {
  const shape = [{ head: 'id', widest: 12 }, { head: 'n', align: 'right' }, { head: 'cause' }] as const;

  it('stays within its columns, cuts ids in their middle and wraps only its last column', () => {
    const rows = [
      ['a-very-long-scenario-id', 5, 'turn 3: none of these words was said by the target'],
      ['日本語のシナリオ', 12, 'short'],
    ];
    assert.deepEqual(table(shape, rows, { columns: 40, lines: 2 }), [
      '  id             n  cause',
      '  a-very…io-id   5  turn 3: none of',
      '                    these words was sai…',
      '  日本語…リオ   12  short',
    ]);
  });

  it('makes the others give way where the last column would have no room', () => {
    const wide = [{ widest: 60 }, {}];
    const [line = ''] = table(wide, [['x'.repeat(60), 'why it has failed at all']], { columns: 50 });
    assert.equal(widthOf(line), 50);
    assert.match(line, /…x+ {2}why it has failed a…$/);
  });

  it('is nothing without rows', () => {
    assert.deepEqual(table(shape, [], { columns: 80 }), []);
  });
});

describe('style', () => {
  it('paints where colours may be used, and nothing elsewhere', () => {
    assert.equal(paintWord(createStyle({ hasColour: true }), 'failed'), '\u001B[31mfailed\u001B[39m');
    assert.equal(paintWord(createStyle({ hasColour: false }), 'failed'), 'failed');
  });
});
