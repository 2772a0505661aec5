import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareWriters, foldJournal, type JournalEvent, type JournalPart } from '../../domain/journal.ts';

/** A part that accepts `accepts` and then says `texts`. */
function aPart(writer: string, accepts: Readonly<Record<string, number>>, ...texts: string[]): JournalPart {
  const messages = texts.map(
    (text): JournalEvent => ({ kind: 'message', at: 2, by: 'driver', turn: 1, text }),
  );
  return { writer, events: [{ kind: 'resumed', at: 1, accepts }, ...messages] };
}

function textsOf(events: readonly JournalEvent[]): string[] {
  return events.flatMap((event) => (event.kind === 'message' ? [event.text] : []));
}

test('a journal without parts holds nothing', () => {
  assert.deepEqual(foldJournal([]), { events: [], ignored: [], accepts: {}, writers: 0 });
});

test('all that the only writer said holds', () => {
  const part = aPart('1-1-a', {}, 'one', 'two');
  assert.deepEqual(foldJournal([part]), {
    events: part.events,
    ignored: [],
    accepts: { '1-1-a': 3 },
    writers: 1,
  });
});

test('parts are folded in the order of their writers, however they are listed', () => {
  const parts = [
    aPart('10-1-c', { '9-1-a': 2, '9-2-b': 2 }, 'three'),
    aPart('9-2-b', { '9-1-a': 2 }, 'two'),
    aPart('9-1-a', {}, 'one'),
  ];
  assert.deepEqual(textsOf(foldJournal(parts).events), ['one', 'two', 'three']);
});

test('what an earlier writer added after it was taken over is ignored', () => {
  const folded = foldJournal([aPart('1-1-a', {}, 'held', 'late'), aPart('2-1-b', { '1-1-a': 2 }, 'next')]);
  assert.deepEqual(textsOf(folded.events), ['held', 'next']);
  assert.deepEqual(textsOf(folded.ignored), ['late']);
});

test('what one writer did not accept is not accepted by the ones after it', () => {
  const first = aPart('1-1-a', {}, 'held', 'late');
  const second = aPart('2-1-b', { '1-1-a': 2 }, 'next');
  const third = aPart('3-1-c', foldJournal([first, second]).accepts, 'last');
  const folded = foldJournal([first, second, third]);
  assert.deepEqual(textsOf(folded.events), ['held', 'next', 'last']);
  assert.deepEqual(folded.accepts, { '1-1-a': 2, '2-1-b': 2, '3-1-c': 2 });
});

test('a part that a lower writer created later is ignored whole', () => {
  const folded = foldJournal([aPart('1-1-a', {}, 'lower'), aPart('2-1-b', {}, 'higher')]);
  assert.deepEqual(textsOf(folded.events), ['higher']);
  assert.deepEqual(folded.ignored.length, 2);
  assert.deepEqual(folded.accepts, { '1-1-a': 0, '2-1-b': 2 });
});

test('a writer that died before its first event has no say', () => {
  const folded = foldJournal([aPart('1-1-a', {}, 'one'), { writer: '2-1-b', events: [] }]);
  assert.deepEqual(textsOf(folded.events), ['one']);
  assert.deepEqual([folded.accepts, folded.writers], [{ '1-1-a': 2 }, 1]);
});

test('what was built on an event that is gone is ignored, and stays so', () => {
  const damaged = aPart('1-1-a', {}, 'one');
  const second = aPart('2-1-b', { '1-1-a': 3 }, 'built on what is gone');
  const folded = foldJournal([damaged, second]);
  assert.deepEqual(textsOf(folded.events), ['one']);
  const third = aPart('3-1-c', folded.accepts, 'again');
  assert.deepEqual(textsOf(foldJournal([damaged, second, third]).events), ['one', 'again']);
});

test('what was built on a part that is gone is ignored', () => {
  const parts = [aPart('1-1-a', {}, 'one'), aPart('3-1-c', { '1-1-a': 2, '2-1-b': 2 }, 'three')];
  assert.deepEqual(textsOf(foldJournal(parts).events), ['one']);
});

for (const [lower, higher, by] of [
  ['9-1-z', '10-1-a', 'scheduled time, as a number'],
  ['1-9-z', '1-10-a', 'attempt, as a number'],
  ['1-1-a', '1-1-b', 'nonce'],
  ['1-1-a-1', '1-1-a-2', 'all of a nonce that holds dashes'],
] as const) {
  test(`writers are ordered by ${by}`, () => {
    assert.ok(compareWriters(lower, higher) < 0);
    assert.ok(compareWriters(higher, lower) > 0);
    assert.equal(compareWriters(lower, lower), 0);
  });
}
