import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRegex } from '../../../adapters/regex.ts';
import type { CheckKind, CheckSpec } from '../../../domain/check.ts';
import { type Evidence, evidenceAt } from '../../../domain/checks/evidence.ts';
import { evaluateCheck, isRule } from '../../../domain/checks/rule.ts';
import { aCheck, calling, evidenceOf } from './builders.ts';

function ask(kind: CheckKind, evidence: Evidence, options: Partial<CheckSpec> = {}) {
  const check = aCheck(kind, options);
  assert.ok(isRule(check));
  return evaluateCheck(check, evidence, compileRegex);
}

const any = (...texts: string[]) => ({ kind: 'contains_any', texts, caseSensitive: false }) as const;
const all = (...texts: string[]) => ({ kind: 'contains_all', texts, caseSensitive: false }) as const;
const matches = (...patterns: string[]) => ({ kind: 'matches_any', patterns, caseSensitive: false }) as const;
const matchesAll = (...patterns: string[]) =>
  ({ kind: 'matches_all', patterns, caseSensitive: false }) as const;
const args = (match: 'subset' | 'deep' | 'exact', value: object) =>
  ({ kind: 'call_args', tool: 'refund', args: value as never, match }) as const;

const texts = evidenceOf(['Hello, how are you', 'It is Refunded now', '{"ok": true}']);
const tools = evidenceOf([
  calling({ name: 'find' }, { name: 'refund', args: { id: 1, by: { who: 'me', at: [1, 2] } } }),
  calling({ name: 'find' }),
]);

const table: readonly [string, CheckKind, Evidence, Partial<CheckSpec>, 'pass' | 'fail'][] = [
  ['one of the texts in one reply', any('money back', 'refunded'), texts, {}, 'pass'],
  ['none of the texts', any('money back'), texts, {}, 'fail'],
  [
    'letters of another case where case matters',
    { ...any('refunded'), caseSensitive: true },
    texts,
    {},
    'fail',
  ],
  ['all texts in one reply', all('refunded', 'now'), texts, {}, 'pass'],
  ['all texts, but in different replies', all('refunded', 'hello'), texts, {}, 'fail'],
  ['all texts, somewhere in the transcript', all('refunded', 'hello'), texts, { sees: 'transcript' }, 'pass'],
  ['a text of the driver in the transcript', any('message 2'), texts, { sees: 'transcript' }, 'pass'],
  ['a text of the driver among the replies', any('message 2'), texts, {}, 'fail'],
  ['a text of an earlier reply in the last', any('refunded'), texts, { sees: 'last_reply' }, 'fail'],
  [
    'a tool call in the transcript with tools',
    any('"refund"'),
    tools,
    { sees: 'transcript_and_tools' },
    'pass',
  ],
  ['a tool call in the transcript without tools', any('"refund"'), tools, { sees: 'transcript' }, 'fail'],
  ['a text that no reply may hold', any('refunded'), texts, { not: true }, 'fail'],
  ['a text that no reply holds', any('sorry'), texts, { not: true }, 'pass'],
  ['a value of the scenario', any('order {input.order}'), evidenceOf(['your order 4471 left']), {}, 'pass'],
  ['a pattern in one reply', matches('refund(ed)?\\b'), texts, {}, 'pass'],
  ['no pattern', matches('^refund'), texts, {}, 'fail'],
  ['all patterns in one reply', matchesAll('refund', 'now$'), texts, {}, 'pass'],
  ['all patterns, but in different replies', matchesAll('refund', 'hello'), texts, {}, 'fail'],
  ['an equal reply, white space aside', { kind: 'equals', text: 'It is Refunded now\n' }, texts, {}, 'pass'],
  ['a reply with more in it', { kind: 'equals', text: 'Refunded' }, texts, {}, 'fail'],
  ['a reply that is JSON', { kind: 'is_json' }, texts, {}, 'pass'],
  ['no reply that is JSON', { kind: 'is_json' }, evidenceOf(['{ok}']), {}, 'fail'],
  [
    'a text that is like enough',
    { kind: 'levenshtein', text: 'It is refunded now' },
    texts,
    { atLeast: 0.9 },
    'pass',
  ],
  ['a text that is not alike', { kind: 'levenshtein', text: 'Goodbye' }, texts, { atLeast: 0.9 }, 'fail'],
  [
    'called tools in any order',
    { kind: 'calls_include', tools: ['refund', 'find'], ordered: false },
    tools,
    {},
    'pass',
  ],
  [
    'a tool that was not called',
    { kind: 'calls_include', tools: ['ship'], ordered: false },
    tools,
    {},
    'fail',
  ],
  [
    'tools in order, with others between',
    { kind: 'calls_include', tools: ['find', 'find'], ordered: true },
    tools,
    {},
    'pass',
  ],
  [
    'tools out of order',
    { kind: 'calls_include', tools: ['refund', 'refund'], ordered: true },
    tools,
    {},
    'fail',
  ],
  ['a forbidden tool that was called', { kind: 'calls_exclude', tools: ['refund'] }, tools, {}, 'fail'],
  ['a forbidden tool that was not called', { kind: 'calls_exclude', tools: ['ship'] }, tools, {}, 'pass'],
  ['not too many calls', { kind: 'max_calls', max: 3 }, tools, {}, 'pass'],
  ['too many calls of one tool', { kind: 'max_calls', max: 1, tool: 'find' }, tools, {}, 'fail'],
  ['equal top-level arguments', args('subset', { id: 1 }), tools, {}, 'pass'],
  [
    'a nested value that is only contained, by subset',
    args('subset', { by: { who: 'me' } }),
    tools,
    {},
    'fail',
  ],
  [
    'a nested value that is contained, by deep',
    args('deep', { by: { who: 'me', at: [1, 2] } }),
    tools,
    {},
    'pass',
  ],
  ['a shorter list, by deep', args('deep', { by: { at: [1] } }), tools, {}, 'fail'],
  ['fewer arguments, by exact', args('exact', { id: 1 }), tools, {}, 'fail'],
  [
    'equal arguments in another order, by exact',
    args('exact', { by: { at: [1, 2], who: 'me' }, id: 1 }),
    tools,
    {},
    'pass',
  ],
];

describe('a check by rule', () => {
  for (const [what, kind, evidence, options, verdict] of table) {
    it(`${verdict === 'pass' ? 'passes' : 'fails'} (${kind.kind}): ${what}`, () => {
      assert.equal(ask(kind, evidence, options).verdict, verdict);
    });
  }

  it('says whether the tool was never called, called without arguments, or called with others', () => {
    const kind = args('subset', { id: 2 });
    assert.match(ask(kind, evidenceOf([calling({ name: 'find' })])).reason, /never called; called: find/);
    assert.match(ask(kind, evidenceOf([calling({ name: 'refund' })])).reason, /not captured/);
    assert.match(ask(kind, tools).reason, /other arguments: expected \(subset\) \{"id":2\}, seen \{"id":1/);
  });

  it('names in its reason what was expected and what was seen', () => {
    assert.equal(
      ask(any('money back', 'sent'), evidenceOf(['No.'])).reason,
      'no reply contains any of "money back", "sent"; the last reply was "No."',
    );
  });

  it('shortens a long text in its reason', () => {
    assert.ok(ask(any('x'), evidenceOf(['y'.repeat(50_000)])).reason.length < 300);
  });

  it('fails where the target never replied', () => {
    assert.deepEqual(ask(any('x'), evidenceOf([])), {
      verdict: 'fail',
      score: 0,
      reason: 'no reply contains "x"; there was no reply',
    });
  });

  it('looks at one turn alone where it is asked of that turn', () => {
    assert.equal(ask(any('refunded'), evidenceAt(texts, 2)).verdict, 'pass');
    assert.equal(ask(any('refunded'), evidenceAt(texts, 3)).verdict, 'fail');
  });

  it('holds a number of the run against its marks', () => {
    const numbers = [
      { turn: 1, replySeconds: 2, inputTokens: 10, outputTokens: 5, costUsd: 0.25 },
      { turn: 2, replySeconds: 4, inputTokens: 20, outputTokens: 5, costUsd: 0.5 },
    ];
    const evidence = { ...tools, numbers };
    const score = (
      number: 'turns' | 'reply_seconds' | 'input_tokens' | 'output_tokens' | 'cost_usd' | 'tool_calls',
    ) => ask({ kind: 'number', number }, evidence).score;
    assert.deepEqual(
      [
        score('turns'),
        score('reply_seconds'),
        score('input_tokens'),
        score('output_tokens'),
        score('cost_usd'),
        score('tool_calls'),
      ],
      [2, 4, 30, 10, 0.75, 3],
    );
    assert.equal(ask({ kind: 'number', number: 'turns' }, evidence, { atMost: 1 }).verdict, 'fail');
    assert.equal(
      ask({ kind: 'number', number: 'turns' }, evidence, { atLeast: 1, atMost: 2 }).verdict,
      'pass',
    );
  });

  it('is undecided where a template names what the reply lacks', () => {
    const answer = ask(
      any('{metadata.source}'),
      evidenceOf(['hello'], {
        transcript: [{ by: 'target', turn: 1, text: 'hello', toolCalls: [], metadata: {} }],
      }),
    );
    assert.equal(answer.verdict, 'undecided');
    assert.equal(answer.faultCode, 'invalid_request');
  });

  it('is undecided where a pattern of the row cannot be compiled', () => {
    const answer = ask(
      matches('{expected}'),
      evidenceOf(['hi'], { scenario: { id: 's', input: 1, expected: '(a', tags: [], meta: {} } }),
    );
    assert.equal(answer.verdict, 'undecided');
    assert.match(answer.reason, /missing closing \)/);
  });
});
