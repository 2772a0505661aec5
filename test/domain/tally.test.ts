import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addTally, emptyTally, endedRuns, type Tally } from '../../domain/tally.ts';

const one: Tally = {
  outcomes: { passed: 1 },
  faults: {},
  usd: 0.5,
  calls: 10,
  wasted: 1,
  tokens: 100,
  tried: 2,
};
const other: Tally = { ...one, outcomes: { passed: 2, broken: 1 }, faults: { denied: 1 } };

it('a tally is added outcome by outcome and fault by fault', () => {
  assert.deepEqual(addTally(one, other), {
    outcomes: { passed: 3, broken: 1 },
    faults: { denied: 1 },
    usd: 1,
    calls: 20,
    wasted: 2,
    tokens: 200,
    tried: 4,
  });
});

it('an empty tally adds nothing', () => {
  assert.deepEqual(addTally(emptyTally, other), other);
});

it('every run of a tally has ended, in some way', () => {
  assert.equal(endedRuns(addTally(one, other)), 4);
});
