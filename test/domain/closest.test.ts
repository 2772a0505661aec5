import assert from 'node:assert/strict';
import { it } from 'node:test';
import { closestWord, wordHint } from '../../domain/closest.ts';

const keys = ['repeats', 'targets', 'target', 'thresholds', 'id'];

const words: readonly (readonly [word: string, closest: string | undefined])[] = [
  ['repeat', 'repeats'],
  ['treshold', 'thresholds'],
  ['TARGET', 'target'],
  ['ids', 'id'],
  ['tagret', 'target'],
  ['di', 'id'],
  ['banana', undefined],
  ['', undefined],
];
for (const [word, closest] of words) {
  it(`"${word}" most likely means ${closest ?? 'nothing'}`, () =>
    assert.equal(closestWord(word, keys), closest));
}

it('a hint lists what is allowed where nothing is near', () =>
  assert.equal(wordHint('banana', keys), 'allowed: repeats, targets, target, thresholds, id'));
