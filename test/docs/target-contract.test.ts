import assert from 'node:assert/strict';
import { it } from 'node:test';
import { blocksOf, textOf } from './markdown.ts';

const page = 'docs/targets-in-any-language.md';
const blocks = (language: string) =>
  blocksOf(page).flatMap((block) => (block.language === language ? [block.text] : []));

it('the contract of targets in any language holds the published schemas', () =>
  assert.deepEqual(
    blocks('json'),
    ['input', 'output'].map((side) => textOf(`formats/schemas/target-turn-${side}.schema.json`)),
  ));

it('the contract of targets in any language holds the example that the tests run', () =>
  assert.deepEqual(blocks('python'), [textOf('examples/python-target/worker.py')]));
