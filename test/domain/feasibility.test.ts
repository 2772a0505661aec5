import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckSpec } from '../../domain/check.ts';
import { thresholdFeasible } from '../../domain/feasibility.ts';
import type { PlannedRun } from '../../domain/sample.ts';
import { describeMistake } from '../../domain/usage-error.ts';
import { parseThreshold } from '../../formats/threshold-grammar.ts';

const polite = {
  name: 'polite',
  kind: 'judge',
  answer: { kind: 'scale', from: 1, to: 5 },
} as unknown as CheckSpec;

function planOf(scenarios: number, repeats: number): readonly PlannedRun[] {
  return Array.from({ length: scenarios * repeats }, (_, index) => {
    const scenario = `s${index % scenarios}`;
    const repeat = 1 + Math.floor(index / scenarios);
    return { id: `x/${scenario}/${repeat}`, scenario, repeat, seed: 1, tags: ['refund'] };
  });
}

function problemOf(text: string, plan: readonly PlannedRun[]): string | undefined {
  const parsed = parseThreshold(text, { checks: ['polite'] });
  assert.equal(parsed.kind, 'threshold');
  const mistake =
    parsed.kind === 'threshold' ? thresholdFeasible(parsed.threshold, plan, [polite]) : undefined;
  return mistake && describeMistake(mistake);
}

const possible: readonly (readonly [string, number, number])[] = [
  ['pass_rate >= 1', 1, 1],
  ['pass^3 >= 1', 2, 3],
  ['pass_rate >= 0.9 with confidence 0.95', 50, 1],
  ['pass^2 >= 0.5 with confidence 0.9', 10, 2],
  ['mean(polite) >= 5', 1, 1],
  ['mean(turns) >= 50', 1, 1],
  ['p95(reply_seconds) <= 5', 1, 1],
  ['broken_rate <= 0', 1, 1],
  ['cost_usd <= 1', 1, 1],
  ['runs >= 10', 5, 2],
  ['pass_rate == 0.5', 1, 2],
];

for (const [text, scenarios, repeats] of possible) {
  test(`${text} can open with ${scenarios} scenarios x ${repeats} repeats`, () => {
    assert.equal(problemOf(text, planOf(scenarios, repeats)), undefined);
  });
}

const impossible: readonly (readonly [string, number, number, string])[] = [
  ['pass^5 >= 0.8', 2, 3, '5 repeats are needed, 3 planned (set repeats to 5 or more)'],
  ['pass@2 >= 0.8 for each scenario', 2, 1, 's0: 2 repeats are needed, 1 planned (set repeats to 2 or more)'],
  [
    'pass_rate >= 0.95 with confidence 0.95',
    10,
    1,
    'even if all goes well, 10 scenarios cannot show it with confidence 95 % (it needs 54 scenarios)',
  ],
  [
    'pass_rate >= 0.9 with confidence 95%',
    1,
    10,
    'even if all goes well, 10 repeats cannot show it with confidence 95 % (it needs 25 repeats)',
  ],
  [
    'mean(polite) >= 4 with confidence 0.95',
    3,
    1,
    'even if all goes well, 3 scenarios cannot show it with confidence 95 % (it needs 11 scenarios)',
  ],
  [
    'pass_rate >= 1 with confidence 0.9',
    10,
    1,
    'even if all goes well, 10 scenarios cannot show it with confidence 90 % (no number of runs can show it)',
  ],
  ['pass_rate > 1', 1, 1, 'the best value is 1'],
  ['mean(polite) >= 6', 1, 1, 'the best value is 5'],
  ['runs >= 10', 2, 2, 'the best value is 4'],
  [
    'pass_rate >= 0.9 where tag vip',
    2,
    2,
    'it is about no planned run (no planned scenario has the tag "vip")',
  ],
];

for (const [text, scenarios, repeats, problem] of impossible) {
  test(`${text} with ${scenarios} scenarios x ${repeats} repeats is refused with what it needs`, () => {
    assert.equal(
      problemOf(text, planOf(scenarios, repeats)),
      `threshold "${text}" can never open: ${problem}`,
    );
  });
}

test('as many scenarios as a refusal asks for are enough, and one less is not', () => {
  const text = 'pass_rate >= 0.95 with confidence 0.95';
  assert.equal(problemOf(text, planOf(54, 1)), undefined);
  assert.ok(problemOf(text, planOf(53, 1)));
});
