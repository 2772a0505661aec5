import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeResult, parseResult, parseResults } from '../../formats/result-lines.ts';
import { aResult } from '../adapters/store-builders.ts';

const file = '0003.jsonl';

test('a result is one line and is read as it was written', () => {
  const result = aResult({ sessionNote: 'two\nlines', ending: { kind: 'script_done' } });
  const line = encodeResult(result);
  assert.equal(line.indexOf('\n'), line.length - 1);
  assert.deepEqual(parseResult(line, { file }), result);
});

test('results are read line by line, blank lines left out', () => {
  const text = `${encodeResult(aResult())}\n\r\n${encodeResult(aResult({ generation: 2 }))}`;
  assert.deepEqual(
    parseResults(text, file).map((result) => result.generation),
    [1, 2],
  );
});

test('a result of a newer schema is refused with what to do', () => {
  const newer = encodeResult(aResult()).replace('"schema":1', '"schema":2');
  assert.throws(() => parseResults(`\n${newer}`, file), {
    name: 'UsageError',
    message:
      '0003.jsonl:2: the result of a run of schema 2, but this version of regatta reads up to 1 ' +
      '(use the version that wrote it, or a newer one)',
  });
});

for (const damaged of [
  '{"schema":1',
  '[]',
  '{}',
  '{"schema":1,"run":"a/b/1","generation":1,"outcome":"odd","checks":[]}',
]) {
  test(`a line that is no result is refused with its place: ${damaged}`, () => {
    assert.throws(() => parseResults(damaged, file), {
      message: '0003.jsonl:1: this is not the result of a run',
    });
  });
}
