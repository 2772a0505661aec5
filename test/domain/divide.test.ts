import assert from 'node:assert/strict';
import { test } from 'node:test';
import { divide } from '../../domain/divide.ts';
import { uniformChoices } from '../../domain/random.ts';

const endless = Number.POSITIVE_INFINITY;

for (const [title, total, wants, least, parts] of [
  [
    'equal wants have equal parts',
    600,
    [
      [1, endless],
      [1, endless],
    ],
    0,
    [300, 300],
  ],
  [
    'parts follow weights',
    600,
    [
      [1, endless],
      [3, endless],
    ],
    0,
    [150, 450],
  ],
  [
    'who can use less leaves the rest to others',
    600,
    [
      [1, 100],
      [1, endless],
    ],
    0,
    [100, 500],
  ],
  [
    'what nobody needs is divided by weight all the same',
    600,
    [
      [1, 100],
      [1, 100],
    ],
    0,
    [300, 300],
  ],
  [
    'everyone has the least that is worth having',
    130,
    [
      [1, endless],
      [99, endless],
    ],
    15,
    [16, 114],
  ],
  [
    'what is left of rounding goes to the first',
    10,
    [
      [1, endless],
      [1, endless],
      [1, endless],
    ],
    0,
    [4, 3, 3],
  ],
  [
    'a least that is too much for all is lowered',
    10,
    [
      [1, endless],
      [1, endless],
    ],
    15,
    [5, 5],
  ],
  ['one alone has all', 600, [[1, 0]], 1, [600]],
] as const) {
  test(title, () => {
    assert.deepEqual(
      divide(
        total,
        wants.map(([weight, cap]) => ({ weight, cap })),
        least,
      ),
      parts,
    );
  });
}

test('whatever is wanted, the parts are whole and use up the whole and no more', () => {
  const choice = uniformChoices(1, 'wants');
  for (let round = 0; round < 500; round += 1) {
    const total = 1 + Math.floor(choice(round) * 1000);
    const wants = Array.from({ length: 1 + (round % 9) }, (_, index) => ({
      weight: 1 + Math.floor(choice(10_000 + round * 10 + index) * 50),
      cap: index % 2 === 0 ? endless : Math.floor(choice(20_000 + round * 10 + index) * 300),
    }));
    const parts = divide(total, wants, 1);
    assert.ok(parts.every((part) => Number.isInteger(part) && part >= 0));
    assert.equal(
      parts.reduce((sum, part) => sum + part, 0),
      total,
    );
  }
});
