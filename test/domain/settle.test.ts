import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CheckResult } from '../../domain/check.ts';
import { faithfulCheck, type Settlement, settleRun } from '../../domain/settle.ts';
import { called, events, type Journaled, opened, released, resumed, said, turn } from './events.ts';

function settled(
  journal: readonly Journaled[],
  more: Partial<Settlement> = {},
  ignored: readonly Journaled[] = [],
) {
  return settleRun({
    run: { id: 'sweep/row/1', scenario: 'row', repeat: 1, seed: 7 },
    scenario: { id: 'row', input: 'hi', tags: ['a'], meta: {} },
    generation: 1,
    journal: { events: events(...journal), ignored: events(...ignored), accepts: {}, writers: 1 },
    cancelled: false,
    at: 99_000,
    ...more,
  });
}

const ended = { kind: 'ended', ending: { kind: 'max_turns' } } as const;
const result = (check: string, verdict: CheckResult['verdict'], required = true): Journaled => ({
  kind: 'check',
  result: { check, required, verdict, reason: 'so' },
});
const fault = (code: 'denied' | 'bug'): Journaled => ({
  kind: 'fault',
  code,
  blame: code === 'bug' ? 'infrastructure' : 'configuration',
  role: 'driver',
  message: 'no',
  final: true,
});
const targetError = {
  kind: 'ended',
  ending: { kind: 'target_error', code: 'timed_out', detail: '' },
} as const;

const outcomes: readonly (readonly [string, readonly Journaled[], Partial<Settlement>, string, string?])[] = [
  ['a run that ended without checks has passed', [opened(), ...turn(1), ended], {}, 'passed'],
  ['a required check that failed fails it', [opened(), ...turn(1), ended, result('c', 'fail')], {}, 'failed'],
  [
    'a soft check that failed does not',
    [opened(), ...turn(1), ended, result('c', 'fail', false)],
    {},
    'passed',
  ],
  [
    'an undecided check leaves it undecided',
    [opened(), ended, result('c', 'undecided')],
    {},
    'undecided',
    'judge',
  ],
  ["the target's own error fails it", [opened(), targetError], {}, 'failed', 'target'],
  ['a final fault breaks it', [opened(), fault('denied')], {}, 'broken', 'configuration'],
  ['a final fault breaks it, ended or not', [opened(), ended, fault('bug')], {}, 'broken', 'infrastructure'],
  [
    'a fault that was cancelled over is still what broke it',
    [opened(), fault('denied')],
    { cancelled: true },
    'broken',
    'configuration',
  ],
  [
    'a run that was stopped on its way is cancelled',
    [opened(), ...turn(1)],
    { cancelled: true },
    'cancelled',
  ],
  [
    'a run that ended and was cancelled before it was scored is cancelled',
    [opened(), ended],
    { cancelled: true },
    'cancelled',
  ],
  [
    'an unfaithful driver leaves it undecided',
    [opened(), ended, result(faithfulCheck, 'fail', false)],
    {},
    'undecided',
    'driver',
  ],
  ['a faithful one changes nothing', [opened(), ended, result(faithfulCheck, 'pass', false)], {}, 'passed'],
  [
    'a retry that never opened is cancelled',
    [opened(), fault('denied')],
    { cancelled: true, generation: 2 },
    'cancelled',
  ],
  [
    'a retry that a bug stopped is broken',
    [opened(), ended, fault('bug')],
    { generation: 2 },
    'broken',
    'infrastructure',
  ],
  ['a run that never opened is cancelled', [], { cancelled: true }, 'cancelled'],
];

describe('the outcome', () => {
  for (const [title, journal, more, outcome, blame] of outcomes) {
    it(title, () => {
      const run = settled(journal, more);
      assert.deepEqual([run.outcome, run.blame], [outcome, blame]);
    });
  }

  it('shows what the judge of the driver said apart from the checks', () => {
    const run = settled([opened(), ended, result('c', 'pass'), result(faithfulCheck, 'fail', false)]);
    assert.deepEqual(
      run.checks.map(({ check }) => check),
      ['c'],
    );
    assert.deepEqual(run.faithful, { verdict: 'fail', reason: 'so' });
  });
});

describe('what a run cost', () => {
  it('counts successful calls by role', () => {
    const { usage } = settled([
      opened(),
      ...turn(1),
      called('judge'),
      called('driver', { code: 'timed_out' }),
      ended,
    ]);
    assert.deepEqual([usage.driver.calls, usage.target.calls, usage.judge.calls], [1, 1, 1]);
    assert.deepEqual(
      [usage.driver.inputTokens, usage.driver.costUsd, usage.driver.wastedCalls],
      [10, 0.5, 0],
    );
  });

  it('counts answers that were asked for again as wasted', () => {
    const { usage } = settled([opened(), called('driver', { wasted: true }), ...turn(1), ended]);
    assert.deepEqual([usage.driver.calls, usage.driver.wastedCalls], [2, 1]);
  });

  it('counts the calls of ignored events and of earlier generations as wasted', () => {
    const { usage } = settled([opened(), ...turn(1), opened(2, 'unsure_call'), ...turn(1), ended], {}, [
      called('target'),
    ]);
    assert.deepEqual([usage.driver.calls, usage.driver.wastedCalls], [2, 1]);
    assert.deepEqual([usage.target.calls, usage.target.wastedCalls], [3, 2]);
  });

  it('is all wasted where a retry never opened', () => {
    const { usage, turns } = settled([opened(), ...turn(1), fault('denied')], {
      cancelled: true,
      generation: 2,
    });
    assert.deepEqual([usage.driver.calls, usage.driver.wastedCalls, turns], [1, 1, 0]);
  });
});

describe('how a run was disturbed', () => {
  it('counts faulty calls by code, those of earlier generations too', () => {
    const refused = called('driver', { code: 'rate_limited' });
    const late = called('target', { code: 'timed_out' });
    const { retries } = settled([opened(), refused, late, opened(2, 'unsure_call'), refused, ended]);
    assert.deepEqual(retries, { rate_limited: 2, timed_out: 1 });
  });

  it('counts workers that took over from one that was lost, not from one that returned', () => {
    const { resumptions } = settled([
      resumed(),
      opened(),
      released,
      resumed(),
      ...turn(1),
      resumed(),
      resumed(),
      ended,
    ]);
    assert.equal(resumptions, 2);
  });

  it('counts calls that were made again, whatever became of them', () => {
    const { resent } = settled([
      opened(),
      called('target', { resent: true }),
      opened(2, 'lost_session'),
      called('driver', { resent: true, code: 'unavailable' }),
      ...turn(1),
      ended,
    ]);
    assert.equal(resent, 2);
  });

  it('counts restarts, not retries', () => {
    const journal = [
      opened(),
      opened(2, 'interrupted'),
      opened(3, 'retry'),
      opened(4, 'lost_session'),
      ended,
    ];
    const { restarted, generation, startedAt } = settled(journal);
    assert.deepEqual([restarted, generation], [2, 4]);
    assert.equal(startedAt, 3_000, 'it started with the retry');
  });

  it('begins when it is settled where it never opened', () => {
    assert.equal(settled([], { cancelled: true }).startedAt, 99_000);
  });
});

describe('the seconds of a reply', () => {
  const session = { kind: 'session', open: true } as const;
  const start = called('target', { turn: 0, ms: 900 });
  const rows: readonly (readonly [string, readonly Journaled[], readonly number[]])[] = [
    ['are those of its call', turn(1), [0.1]],
    [
      'are those of all calls that a chat target took',
      [said('driver', 1), called('target'), called('target'), said('target', 1)],
      [0.2],
    ],
    [
      'leave faulty tries and waits out',
      [called('target', { code: 'timed_out', wait_ms: 9 }), called('target'), said('target', 1)],
      [0.1],
    ],
    ['leave the opening of its session out', [start, session, ...turn(1)], [0.1]],
    [
      'leave the opening out also where the target speaks first',
      [start, session, called('target'), said('target', 0)],
      [0.1],
    ],
    [
      'are those of the opening where that came with the greeting',
      [start, session, said('target', 0), ...turn(1)],
      [0.9, 0.1],
    ],
    [
      'count where a reply brings the session',
      [said('driver', 1), called('target'), session, said('target', 1)],
      [0.1],
    ],
    ['are those of the last generation only', [...turn(1), opened(2, 'unsure_call'), ...turn(1)], [0.1]],
  ];
  for (const [title, journal, seconds] of rows) {
    it(title, () => assert.deepEqual(settled([opened(), ...journal, ended]).replySeconds, seconds));
  }
});

it('a result tells turns, tool calls, play time and marked messages', () => {
  const tools = { tool_calls: [{ name: 'find' }, { name: 'refund' }] };
  const run = settled([
    opened(),
    said('target', 0),
    called('driver'),
    said('driver', 1, { marks: ['offers_help'] }),
    called('target'),
    said('target', 1, tools),
    ended,
  ]);
  assert.deepEqual([run.turns, run.toolCalls, run.playMs, run.markedMessages], [1, 2, 200, 1]);
  assert.deepEqual([run.ending, run.tags, run.endedAt], [{ kind: 'max_turns' }, ['a'], 99_000]);
});
