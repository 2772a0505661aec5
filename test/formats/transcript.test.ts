import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UsageError } from '../../domain/usage-error.ts';
import { readSweepFile } from '../../formats/sweep-file.ts';
import { aContext } from './a-context.ts';

const sweep = {
  file: 'sweep.yaml',
  value: { scenarios: [{ file: '*.yaml' }], target: { script: { replies: ['Hello'] } } },
} as const;

function read(files: Readonly<Record<string, string>>) {
  return readSweepFile(sweep, aContext(files));
}

function mistakesIn(files: Readonly<Record<string, string>>): readonly string[] {
  try {
    read(files);
  } catch (error) {
    if (error instanceof UsageError) return error.message.split('\n');
    throw error;
  }
  return [];
}

const booking = `
id: booking
runs: 3
threshold: 2/3
tags: [gate:booking]
on_turn_fail: stop
turns:
  - user: Book {tomorrow} at 10:30
    expect:
      tool_calls_include: [find_slot, book_slot]
      tool_calls_ordered: true
      tool_calls_args:
        - tool: book_slot
          args: { time: "10:30" }
      reply_contains_any: [booked]
  - user: Thanks
    expect:
      reply_matches_all: ['welcome|pleasure']
`;

describe('a transcript file', () => {
  it('becomes a scenario with its turns, repeats and threshold', () => {
    const { scenarios, spec } = read({ 'booking.yaml': booking });
    const [scenario] = scenarios;
    assert.equal(scenario?.id, 'booking');
    assert.deepEqual(scenario?.turns, [{ text: 'Book {tomorrow} at 10:30' }, { text: 'Thanks' }]);
    assert.equal(scenario?.repeats, 3);
    assert.equal(scenario?.onTurnFail, 'stop');
    assert.deepEqual(scenario?.tags, ['gate:booking']);
    assert.deepEqual(
      spec.thresholds.map(({ value, scenario: of }) => [value, of]),
      [[2 / 3, 'booking']],
    );
  });

  it('becomes a check for each expectation, asked at its turn', () => {
    const { spec } = read({ 'booking.yaml': booking });
    assert.deepEqual(
      spec.checks.map(({ name, at, kind }) => [name, at, kind]),
      [
        ['booking/turn 1/tool_calls_include', 1, 'calls_include'],
        ['booking/turn 1/reply_contains_any', 1, 'contains_any'],
        ['booking/turn 1/tool_calls_args 1', 1, 'call_args'],
        ['booking/turn 2/reply_matches_all', 2, 'matches_all'],
      ],
    );
  });

  it('passes with 0.8 of its runs where it says nothing, and with min_pass of them', () => {
    const { spec } = read({
      'a.yaml': 'id: a\nturns: [{ user: hi }]',
      'b.yaml': 'id: b\nruns: 4\nmin_pass: 3\nturns: [{ user: hi }]',
    });
    assert.deepEqual(
      spec.thresholds.map(({ value }) => value),
      [0.8, 0.75],
    );
  });

  it('is refused with every mistake of every file, its place and the closest word', () => {
    assert.deepEqual(
      mistakesIn({
        'a.yaml': 'id: a\nturns:\n  - user: hi\n    expect:\n      reply_contain_any: [x]\n',
        'b.yaml': 'id: b\nrun: 2\nturns:\n  - user: hi\n    expect: { tool_calls_ordered: true }\n',
        'c.yaml': 'id: c\nturns:\n  - user: hi\n    expect: { tool_calls_ordered: true }\n',
        'd.yaml': 'id: C\nturns: [{ user: hi, expect: { reply_contains_all: } }]\n',
      }),
      [
        'a.yaml:5:7 turns.0.expect.reply_contain_any: unknown key "reply_contain_any" (did you mean "reply_contains_any"?)',
        'b.yaml:2:1 run: unknown key "run" (did you mean "runs"?)',
        'c.yaml:4:35 turns.0.expect.tool_calls_ordered: there is nothing to order (add tool_calls_include, whose order it is about)',
        'd.yaml:2:51 turns.0.expect.reply_contains_all: must be a list, not empty',
      ],
    );
  });

  it('cannot take the id of another', () => {
    const [message] = mistakesIn({
      'a.yaml': 'id: a\nturns: [{ user: hi }]',
      'b.yaml': 'id: A\nturns: [{ user: hi }]',
    });
    assert.match(message ?? '', /b\.yaml:1:5 id: the id "A" is taken/);
  });

  it('asks a judge only where one is named', () => {
    const [message] = mistakesIn({
      'a.yaml': 'id: a\nturns: [{ user: hi, expect: { judge: { rubric: Kind } } }]',
    });
    assert.match(message ?? '', /nobody judges this/);
  });
});
