import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Threshold } from '../../domain/threshold.ts';
import { describeMistake } from '../../domain/usage-error.ts';
import { parseThreshold } from '../../formats/threshold-grammar.ts';

const names = { checks: ['refunded', 'polite'], tags: ['refund', 'area:billing', 'two words'] };
const outcome = { kind: 'outcome' } as const;

const good: readonly (readonly [string, Omit<Threshold, 'text'>])[] = [
  ['pass_rate >= 0.9', { metric: { kind: 'pass_rate', subject: outcome }, comparison: '>=', value: 0.9 }],
  ['pass_rate>=90%', { metric: { kind: 'pass_rate', subject: outcome }, comparison: '>=', value: 0.9 }],
  [
    'pass_rate(refunded) >= 2/3 for each scenario',
    {
      metric: { kind: 'pass_rate', subject: { kind: 'check', check: 'refunded' } },
      comparison: '>=',
      value: 2 / 3,
      forEach: 'scenario',
    },
  ],
  [
    '  pass^3 >= 0.8 where tag refund ',
    {
      metric: { kind: 'pass_hat', k: 3, subject: outcome },
      comparison: '>=',
      value: 0.8,
      whereTag: 'refund',
    },
  ],
  [
    'pass@2( polite ) > 50 % with confidence 95% where tag area:billing for each target',
    {
      metric: { kind: 'pass_at', k: 2, subject: { kind: 'check', check: 'polite' } },
      comparison: '>',
      value: 0.5,
      confidence: 0.95,
      whereTag: 'area:billing',
      forEach: 'target',
    },
  ],
  [
    'p95(reply_seconds) <= 5',
    {
      metric: { kind: 'percentile', percent: 95, subject: { kind: 'number', number: 'reply_seconds' } },
      comparison: '<=',
      value: 5,
    },
  ],
  [
    'mean(polite) >= 4 where tag "two words"',
    {
      metric: { kind: 'mean', subject: { kind: 'check', check: 'polite' } },
      comparison: '>=',
      value: 4,
      whereTag: 'two words',
    },
  ],
  [
    'min(turns) != -1',
    { metric: { kind: 'min', subject: { kind: 'number', number: 'turns' } }, comparison: '!=', value: -1 },
  ],
  ['broken_rate < 1e-2', { metric: { kind: 'broken_rate' }, comparison: '<', value: 0.01 }],
  ['cost_usd <= 20', { metric: { kind: 'cost_usd' }, comparison: '<=', value: 20 }],
  ['runs == 100', { metric: { kind: 'runs' }, comparison: '==', value: 100 }],
];

for (const [text, threshold] of good) {
  test(`the threshold "${text}" is understood`, () => {
    assert.deepEqual(parseThreshold(text, names), { kind: 'threshold', threshold: { text, ...threshold } });
  });
}

const allMetrics =
  'pass_rate, pass@k, pass^k, mean, p50, p90, p95, p99, min, max, broken_rate, cost_usd, runs';
const clauses = 'allowed: for each scenario|target|tag, where tag T, with confidence C';

const bad: readonly (readonly [string, readonly string[]])[] = [
  ['', [`column 1: expected a metric, found the end (allowed: ${allMetrics})`]],
  ['pass_rat >= 0.9', ['column 1: "pass_rat" is not a metric (did you mean "pass_rate"?)']],
  ['p85(turns) >= 1', ['column 1: "p85" is not a metric (percentiles are p50, p90, p95, p99)']],
  ['pass^0 >= 1', ['column 1: "pass^0" needs a whole number from 1 on (for instance pass^3)']],
  ['pass@k >= 1', ['column 1: "pass@k" needs a whole number from 1 on (for instance pass@3)']],
  ['pass_rate(refundd) >= 1', ['column 11: "refundd" is not a check (did you mean "refunded"?)']],
  [
    'pass_rate(turns) >= 1',
    ['column 11: pass_rate needs a check, "turns" is a number (for instance mean(turns))'],
  ],
  ['pass_rate(refunded >= 1', ['column 24: expected ")", found the end']],
  [
    'mean >= 1',
    [
      'column 1: mean needs a check or a number in parentheses (for instance mean(reply_seconds); allowed: refunded, polite, turns, reply_seconds, input_tokens, output_tokens, cost_usd, tool_calls)',
    ],
  ],
  [
    'p95(reply_second) <= 5',
    ['column 5: "reply_second" is neither a check nor a number of runs (did you mean "reply_seconds"?)'],
  ],
  ['runs(polite) >= 5', ['column 6: runs takes no check, found "polite"']],
  ['pass_rate => 0.9', ['column 11: expected a comparison, found "=>" (allowed: >=, <=, ==, !=, >, <)']],
  ['pass_rate 0.9', ['column 11: expected a comparison, found "0.9" (allowed: >=, <=, ==, !=, >, <)']],
  [
    'pass_rate >= high',
    ['column 14: expected a value, found "high" (a number (0.9), a percentage (90%) or a fraction (2/3))'],
  ],
  [
    'pass_rate >= 2/0',
    ['column 14: expected a value, found "2/0" (a number (0.9), a percentage (90%) or a fraction (2/3))'],
  ],
  ['pass_rate >= 90', ['column 14: a rate lies between 0 and 1, found "90" (did you mean 90%?)']],
  [
    'pass_rate >= 0.9 for each run',
    [
      'column 27: expected scenario, target or tag after "for each", found "run" (allowed: scenario, target, tag)',
    ],
  ],
  [
    'pass_rate >= 0.9 where tag refnd',
    ['column 28: no scenario has the tag "refnd" (did you mean "refund"?)'],
  ],
  ['pass_rate >= 0.9 on average', [`column 18: found "on" after the value (${clauses})`]],
  [
    'pass_rate >= 0.9 with confidence 95',
    ['column 34: a confidence lies above 0.5 and below 1, found "95" (for instance 0.95 or 95%)'],
  ],
  [
    'cost_usd <= 20 with confidence 0.9',
    ['column 16: cost_usd takes no confidence (it is a fact of these runs, not an estimate)'],
  ],
  [
    'pass_rate == 0.9 with confidence 0.9',
    ['column 18: "==" takes no confidence (allowed with a confidence: >=, >, <=, <)'],
  ],
  ['runs >= 1 for each tag for each target', ['column 24: this clause is given twice']],
  [
    'pass_rate(nice) >= 90 where tag no',
    [
      'column 11: "nice" is not a check (allowed: refunded, polite)',
      'column 20: a rate lies between 0 and 1, found "90" (did you mean 90%?)',
      'column 33: no scenario has the tag "no" (allowed: refund, area:billing, two words)',
    ],
  ],
];

for (const [text, messages] of bad) {
  test(`the threshold "${text}" is refused with what is allowed`, () => {
    const parsed = parseThreshold(text, names);
    assert.equal(parsed.kind, 'mistakes');
    assert.deepEqual(
      parsed.kind === 'mistakes' ? parsed.mistakes.map(describeMistake) : [],
      messages.map((message) => `threshold "${text}", ${message}`),
    );
  });
}

test('without a list of tags any tag will do', () => {
  assert.equal(parseThreshold('pass_rate >= 1 where tag new', { checks: [] }).kind, 'threshold');
});
