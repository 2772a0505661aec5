import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalEvent } from '../../domain/journal.ts';
import { encodeEvents, parseEvents } from '../../formats/journal-lines.ts';

const file = '1-1-a.jsonl';
const one: JournalEvent = { kind: 'message', at: 1, by: 'driver', turn: 1, text: 'line\nend and \u2028' };
const two: JournalEvent = { at: 2, kind: 'ended', ending: { kind: 'max_turns' } };

test('an event is one line that begins with its kind and time', () => {
  assert.equal(encodeEvents([two]), '{"kind":"ended","at":2,"ending":{"kind":"max_turns"}}\n');
});

test('events are read as they were written', () => {
  assert.deepEqual(parseEvents(encodeEvents([one, two]), file), [one, two]);
});

test('events that were written together hold together', () => {
  const [first = ''] = encodeEvents([two, one]).split(/(?<=\n)/);
  assert.deepEqual(parseEvents(`${encodeEvents([one])}${first}`, file), [one]);
});

test('a part without a line has no events', () => {
  assert.deepEqual(parseEvents('', file), []);
});

test('a last line without its end is left out, even where it could be read', () => {
  assert.deepEqual(parseEvents(`${encodeEvents([one])}${encodeEvents([two]).trimEnd()}`, file), [one]);
});

for (const damage of ['\0\0\0', '{"kind":"mess', '[]', 'null', '', '{"kind":"ended"}', '{"at":1}']) {
  test(`a part ends before a whole line that is no event: ${JSON.stringify(damage)}`, () => {
    assert.deepEqual(parseEvents(`${encodeEvents([one])}${damage}\n${encodeEvents([two])}`, file), [one]);
  });
}

test('an event that only a newer version knows is a fault that names the line', () => {
  const lines = `${encodeEvents([one])}{"kind":"toString","at":1}\n`;
  assert.throws(() => parseEvents(lines, file), {
    code: 'store_unavailable',
    message: '1-1-a.jsonl:2: an event of the kind "toString", which only a newer version of regatta knows',
  });
});
