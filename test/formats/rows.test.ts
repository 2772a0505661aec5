import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeMistake, UsageError } from '../../domain/usage-error.ts';
import { readSweepFile } from '../../formats/sweep-file.ts';
import { aContext, aSweep } from './a-context.ts';

function scenariosOf(file: string, text: string) {
  const sweep = aSweep({ scenarios: `scenarios: [{ file: ${file} }]`, driver: '' });
  return readSweepFile(sweep, aContext({ [file]: text })).scenarios;
}

function mistakesOf(file: string, text: string): readonly string[] {
  try {
    scenariosOf(file, text);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.mistakes.map(describeMistake);
  }
}

describe('a file of JSON lines', () => {
  it('may have a byte order mark, CRLF and blank lines', () =>
    assert.deepEqual(
      scenariosOf('r.jsonl', '\uFEFF{"id":"a","input":1}\r\n\r\n  \n{"id":2,"input":null}').map(
        ({ id, input }) => [id, input],
      ),
      [
        ['a', 1],
        ['2', null],
      ],
    ));

  it('is split at line feeds only', () =>
    assert.equal(scenariosOf('r.jsonl', '{"id":"a","input":"one\u2028two"}\n')[0]?.input, 'one\u2028two'));

  it('keeps whole numbers beyond 2^53 as text', () =>
    assert.deepEqual(
      scenariosOf('r.jsonl', '{"id":"a","input":{"n":12345678901234567890,"m":12}}')[0]?.input,
      {
        n: '12345678901234567890',
        m: 12,
      },
    ));

  it('keeps further keys as meta', () =>
    assert.deepEqual(
      scenariosOf('r.jsonl', '{"id":"a","input":"x","owner":"desk","meta":{"week":7}}')[0]?.meta,
      {
        owner: 'desk',
        week: 7,
      },
    ));

  it('takes the expectation under each of its names', () =>
    assert.deepEqual(
      ['expected', 'result', 'expectation'].map(
        (key) => scenariosOf('r.jsonl', `{"id":"a","input":"x","${key}":[1]}`)[0]?.expected,
      ),
      [[1], [1], [1]],
    ));

  it('names rows without an id after the file and their content, whatever stands before them', () => {
    const [first, ...others] = scenariosOf('set/late.jsonl', '{"input":"x"}\n{"input":"y"}\n{"input":"x"}');
    const again = scenariosOf('set/late.jsonl', '{"input":"new"}\n{"input":"y"}');
    assert.match(first?.id ?? '', /^late-[0-9a-f]{8}$/);
    assert.equal(others[1]?.id, `${first?.id}-2`);
    assert.equal(again[1]?.id, others[0]?.id);
  });

  it('tells every bad line', () =>
    assert.deepEqual(mistakesOf('r.jsonl', '{"input":1}\n{oops}\n[1]\n{"id":"a"}\n{"input":1,"tags":{}}'), [
      "r.jsonl:2: not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
      'r.jsonl:3: a row must be an object',
      'r.jsonl:4 input: "input" is missing',
      'r.jsonl:5 tags: must be text or a list of texts, not a map',
    ]));

  it('tells the first twenty mistakes and how many more there are', () => {
    const mistakes = mistakesOf('r.jsonl', '[]\n'.repeat(50));
    assert.deepEqual([mistakes.length, mistakes.at(-1)], [21, 'r.jsonl: 30 more mistakes in this file']);
  });
});

describe('a CSV file', () => {
  it('has columns that become the keys of the input', () =>
    assert.deepEqual(
      scenariosOf('r.csv', 'id,order,mood,expected,tags\r\na,0071,"calm, very",done,x; y|z\r\n'),
      [
        {
          id: 'a',
          input: { order: '0071', mood: 'calm, very' },
          expected: 'done',
          tags: ['x', 'y', 'z'],
          meta: {},
        },
      ],
    ));

  it('has meta in its other columns where it has an input', () =>
    assert.deepEqual(scenariosOf('r.csv', 'id,input,owner,repeats\na,Hello,desk,3\n'), [
      { id: 'a', input: 'Hello', tags: [], meta: { owner: 'desk' }, repeats: 3 },
    ]));

  it('may have quotes and line breaks in quotes', () =>
    assert.equal(
      scenariosOf('r.csv', 'id,input\na,"say ""hi""\nand wait"\n\n')[0]?.input,
      'say "hi"\nand wait',
    ));

  it('tells rows of another length, by line', () =>
    assert.deepEqual(mistakesOf('r.csv', 'id,input\na,"two\nlines"\nb\n'), [
      'r.csv:4: has 1 cells, the header 2',
    ]));

  it('tells a quote that is not closed', () =>
    assert.deepEqual(mistakesOf('r.csv', 'id,input\na,"x\n'), [
      'r.csv: not CSV: line 2: a quote is not closed, or stands inside a cell without quotes',
    ]));

  it('tells a column that is there twice', () =>
    assert.deepEqual(mistakesOf('r.csv', 'id,input,input\n'), [
      'r.csv:1: the header has a column without a name, or twice: "input"',
    ]));

  it('with a header alone has no rows', () =>
    assert.deepEqual(mistakesOf('r.csv', 'id,input\n'), ['r.csv: the file has no rows']));
});

describe('a YAML file of rows', () => {
  it('keeps numbers that would lose something as text', () =>
    assert.deepEqual(scenariosOf('r.yaml', '- id: 007\n  input: { a: 1.10, b: 1.5, c: 0x1f }\n'), [
      { id: '007', input: { a: '1.10', b: 1.5, c: '0x1f' }, tags: [], meta: {} },
    ]));

  it('tells where a bad row stands', () =>
    assert.deepEqual(mistakesOf('r.yaml', '- id: a\n  input: x\n  repeats: 0\n- 5\n'), [
      'r.yaml:3:12 0.repeats: must be at least 1, not 0',
      'r.yaml:4:3 1: a row must be a map',
    ]));

  it('is a list, or a transcript', () => {
    assert.deepEqual(mistakesOf('r.yaml', 'id: a\nturns: []\n'), ['r.yaml:2:8 turns: must not be empty']);
    assert.deepEqual(mistakesOf('r.yaml', 'just text\n'), [
      'r.yaml: must be a map or a list of rows, not "just text"',
    ]);
  });
});

it('a file of another kind is no row file', () =>
  assert.deepEqual(mistakesOf('r.txt', 'x'), [
    'r.txt: is no row file (endings: jsonl, ndjson, csv, yaml, yml, json)',
  ]));
