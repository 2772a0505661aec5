import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeId,
  encodeId,
  foldId,
  idMistake,
  parseRunId,
  runIdOf,
  sweepIdMistake,
  sweepIdOf,
} from '../../domain/run-id.ts';

describe('an id in a path', () => {
  const ids: readonly (readonly [id: string, segment: string])[] = [
    ['late-parcel_2', 'late-parcel_2'],
    ['v1.2', 'v1.2'],
    ['.', '%2E'],
    ['..', '%2E%2E'],
    ['.hidden', '%2Ehidden'],
    ['end.', 'end%2E'],
    ['a/b', 'a%2Fb'],
    ['a@b', 'a%40b'],
    ['50%', '50%25'],
    ['two words', 'two%20words'],
    ["it's (new)*!~", 'it%27s%20%28new%29%2A%21%7E'],
    ['über', '%C3%BCber'],
    ['a\\b:c', 'a%5Cb%3Ac'],
  ];
  for (const [id, segment] of ids) {
    it(`"${id}" is ${segment}, and back`, () => {
      assert.equal(encodeId(id), segment);
      assert.equal(decodeId(segment), id);
    });
  }

  it('is the same id in another letter case or composition', () => {
    assert.equal(foldId('Straße-É'), foldId('straße-e\u0301'));
    assert.notEqual(foldId('a'), foldId('b'));
  });

  it('must not be empty, too long, or half a character', () => {
    assert.equal(idMistake(' '), 'an id must not be empty');
    assert.equal(idMistake('a'.repeat(120)), undefined);
    assert.equal(
      idMistake('ü'.repeat(21)),
      'the id "üüüüüüüüüüüüüüüüüüüüü..." takes 126 characters in paths; at most 120 fit',
    );
    assert.equal(idMistake('\ud800')?.endsWith('holds half a character'), true);
  });
});

describe('the id of a run', () => {
  const runs = [
    { sweep: 's-1', scenario: 'a/b@c', repeat: 3 },
    { sweep: 's-1', scenario: 'a', variant: 'gpt-4.1@eu', repeat: 10 },
  ];
  for (const run of runs) {
    it(`${runIdOf(run)} holds its parts`, () => assert.deepEqual(parseRunId(runIdOf(run)), run));
  }

  it('is written with the variant behind an @', () =>
    assert.equal(runIdOf({ sweep: 's', scenario: 'a b', variant: 'v', repeat: 1 }), 's/a%20b@v/1'));

  for (const text of ['', 's', 's/a', 's/a/0', 's/a/x', 's/a@/1', 's/a/b/1', 's/%zz/1']) {
    it(`"${text}" is none`, () => assert.equal(parseRunId(text), undefined));
  }
});

describe('the id of a sweep', () => {
  it('is its name, the time and four digits', () =>
    assert.equal(
      sweepIdOf('desk', { year: 2026, month: 3, day: 9, hour: 7, minute: 5, second: 0 }, '0af3'),
      'desk-20260309-070500-0af3',
    ));

  it('may be chosen where it fits a path', () => {
    assert.equal(sweepIdMistake('ci-4711.2_b'), undefined);
    assert.equal(sweepIdMistake('7'), undefined);
  });

  for (const id of ['', 'a/b', '..', '-x', 'a b', 'x.', 'x'.repeat(101)]) {
    it(`"${id.slice(0, 20)}" cannot be one`, () =>
      assert.equal(sweepIdMistake(id)?.message, `"${id}" cannot be the id of a sweep`));
  }
});
