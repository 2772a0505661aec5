import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeShard, encodeSweep, parseShard, parseSweep } from '../../formats/sweep-record.ts';
import { aShard, aSweep } from '../adapters/store-builders.ts';

test('a sweep is read as it was written', () => {
  assert.deepEqual(parseSweep(encodeSweep(aSweep()), 'sweep.json'), aSweep());
});

test('a shard is read as it was written', () => {
  assert.deepEqual(parseShard(encodeShard(aShard(3)), '0003.json'), aShard(3));
});

test('a sweep of a newer schema is refused with what to do', () => {
  assert.throws(() => parseSweep('{"schema":7}', 'sweep.json'), {
    name: 'UsageError',
    message: /^sweep\.json: a sweep of schema 7, but .* reads up to 1 \(use the version that wrote it/,
  });
});

test('a file that is no sweep, or no shard, is refused by name', () => {
  assert.throws(() => parseSweep('{"schema":1}', 'sweep.json'), {
    message: 'sweep.json: this is not a sweep',
  });
  assert.throws(() => parseShard('{"schema":1', '0003.json'), {
    message: '0003.json: this is not a shard of a sweep',
  });
});
