import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, pages } from './markdown.ts';
import { loadBlock } from './sweep-blocks.ts';

const blocks = pages().flatMap((page) => blocksOf(page).filter(({ language }) => language === 'yaml'));

test('the docs show sweep files', () => {
  assert.ok(blocks.some(({ file, info }) => file === 'README.md' && info === ''));
  assert.ok(blocks.filter(({ file }) => file === 'docs/sweep-file.md').length >= 5);
});

for (const block of blocks.filter(({ info }) => info !== 'other')) {
  test(`${block.file}, line ${block.line}: the sweep loads`, () => {
    assert.ok(loadBlock(block).scenarios.length > 0);
  });
}
