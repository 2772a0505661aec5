import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Conversation, foldConversation, unopened } from '../../domain/conversation.ts';
import { type ConversationRules, type NextStep, nextStep } from '../../domain/next-step.ts';
import type { Verdict } from '../../domain/outcome.ts';
import type { DriverModel, DriverSpec } from '../../domain/sweep-spec.ts';
import { called, events, type Journaled, opened, released, resumed, said, turn } from './events.ts';

const model: DriverModel = {
  model: 'm',
  prompt: '',
  temperature: 0,
  temperatureGiven: false,
  managed: false,
};
const free: DriverSpec = { kind: 'model', ...model };
const script = (...steps: Extract<DriverSpec, { kind: 'script' }>['steps']): DriverSpec => ({
  kind: 'script',
  steps,
  drive: model,
});

function rules(
  more: Partial<ConversationRules> & Partial<ConversationRules['conversation']> = {},
): ConversationRules {
  const { first = 'driver', maxTurns = 5, stop, ...rest } = more;
  const conversation = { first, maxTurns, ...(stop === undefined ? {} : { stop }) };
  return { conversation, driver: free, sessions: false, turnChecks: [], runMs: 1_000, ...rest };
}

const done = { ends: { kind: 'driver_done', reason: 'goal_met' } } as const;
const hungUp = { ends: { kind: 'target_hung_up' } } as const;
const checked = (turn: number, verdict: Verdict, check = 'stop') =>
  ({ kind: 'check', turn, result: { check, required: true, verdict, reason: '' } }) as const;
const session = (more: object = {}) => ({ kind: 'session', open: true, id: 's', ...more }) as const;
const end = (ending: Extract<NextStep, { kind: 'end' }>['ending']): NextStep => ({ kind: 'end', ending });

const goalMet = end(done.ends);
const stops = { stop: { check: 'stop', on: 'pass' }, turnChecks: ['stop'] } as const;
const stopsOnFail = { stop: { check: 'stop', on: 'fail' }, turnChecks: ['stop'] } as const;
const spent = called('driver', { ms: 1_000 });
const mixed = script({ kind: 'say', text: 'a' }, { kind: 'drive', turns: 2 }, { kind: 'say', text: 'b' });

type Row = readonly [string, readonly Journaled[], ConversationRules, NextStep];

const table: readonly Row[] = [
  ['the driver speaks first', [opened()], rules(), { kind: 'drive', turn: 1 }],
  ['a target that speaks first greets', [opened()], rules({ first: 'target' }), { kind: 'greet' }],
  [
    'a session is opened before anything',
    [opened()],
    rules({ sessions: true, first: 'target' }),
    { kind: 'start_session' },
  ],
  [
    'a session that was opened is not opened again',
    [opened(), session()],
    rules({ sessions: true }),
    { kind: 'drive', turn: 1 },
  ],
  [
    'a session that has nothing to open is not opened again',
    [opened(), { kind: 'session', open: false }],
    rules({ sessions: true, first: 'target' }),
    { kind: 'greet' },
  ],
  [
    'a greeting of the session is the greeting',
    [opened(), session(), said('target', 0)],
    rules({ sessions: true, first: 'target' }),
    { kind: 'drive', turn: 1 },
  ],
  [
    'after the greeting the driver speaks',
    [opened(), said('target', 0)],
    rules({ first: 'target' }),
    { kind: 'drive', turn: 1 },
  ],
  [
    'no check is asked of a greeting',
    [opened(), said('target', 0)],
    rules({ ...stops, first: 'target' }),
    { kind: 'drive', turn: 1 },
  ],
  [
    'a target may hang up with its greeting',
    [opened(), said('target', 0, hungUp)],
    rules({ first: 'target' }),
    end(hungUp.ends),
  ],
  [
    'a driver message waits for its reply',
    [opened(), said('driver', 1)],
    rules(),
    { kind: 'reply', turn: 1 },
  ],
  ['after a turn the next one begins', [opened(), ...turn(1)], rules(), { kind: 'drive', turn: 2 }],
  [
    'a conversation ends at max_turns',
    [opened(), ...turn(1)],
    rules({ maxTurns: 1 }),
    end({ kind: 'max_turns' }),
  ],
  [
    'the greeting is no turn',
    [opened(), said('target', 0)],
    rules({ maxTurns: 1, first: 'target' }),
    { kind: 'drive', turn: 1 },
  ],

  [
    'a driver that is done is answered once more',
    [opened(), said('driver', 1, done)],
    rules(),
    { kind: 'reply', turn: 1 },
  ],
  [
    'and then the conversation ends',
    [opened(), said('driver', 1, done), said('target', 1)],
    rules(),
    goalMet,
  ],
  [
    'a driver that is done goes before a target that hangs up',
    [opened(), said('driver', 1, done), said('target', 1, hungUp)],
    rules(),
    goalMet,
  ],
  [
    'a driver that is done goes before max_turns',
    [opened(), said('driver', 1, done), said('target', 1)],
    rules({ maxTurns: 1 }),
    goalMet,
  ],
  [
    'a driver that is done goes before the stop check, which is asked all the same',
    [opened(), said('driver', 1, done), said('target', 1)],
    rules(stops),
    { kind: 'check', turn: 1 },
  ],
  [
    'and whatever that says',
    [opened(), said('driver', 1, done), said('target', 1), checked(1, 'pass')],
    rules(stops),
    goalMet,
  ],
  [
    'a target that hung up ends it',
    [opened(), said('driver', 1), said('target', 1, hungUp)],
    rules(),
    end(hungUp.ends),
  ],

  [
    'the stop check is asked after each turn',
    [opened(), ...turn(1), checked(1, 'fail'), ...turn(2)],
    rules(stops),
    { kind: 'check', turn: 2 },
  ],
  [
    'it stops on pass',
    [opened(), ...turn(1), checked(1, 'pass')],
    rules(stops),
    end({ kind: 'stop_check', check: 'stop' }),
  ],
  [
    'it goes on where it fails',
    [opened(), ...turn(1), checked(1, 'fail')],
    rules(stops),
    { kind: 'drive', turn: 2 },
  ],
  [
    'it goes on where it is undecided',
    [opened(), ...turn(1), checked(1, 'undecided')],
    rules(stops),
    { kind: 'drive', turn: 2 },
  ],
  [
    'it may stop on fail',
    [opened(), ...turn(1), checked(1, 'fail')],
    rules(stopsOnFail),
    end({ kind: 'stop_check', check: 'stop' }),
  ],
  [
    'another check of the turn stops nothing',
    [opened(), ...turn(1), checked(1, 'pass', 'other')],
    rules(stops),
    { kind: 'check', turn: 1 },
  ],
  [
    'the stop check goes before max_turns',
    [opened(), ...turn(1), checked(1, 'pass')],
    rules({ ...stops, maxTurns: 1 }),
    end({ kind: 'stop_check', check: 'stop' }),
  ],
  [
    'a stop check that is not asked of this scenario stops nothing',
    [opened(), ...turn(1)],
    rules({ ...stops, turnChecks: [] }),
    { kind: 'drive', turn: 2 },
  ],

  [
    'play time ends it before a reply',
    [opened(), spent, said('driver', 1)],
    rules(),
    end({ kind: 'time_limit' }),
  ],
  [
    'play time ends it before a driver message',
    [opened(), ...turn(1), spent],
    rules(),
    end({ kind: 'time_limit' }),
  ],
  [
    'play time ends it before a greeting',
    [opened(), spent],
    rules({ first: 'target' }),
    end({ kind: 'time_limit' }),
  ],
  [
    'play time goes before max_turns',
    [opened(), ...turn(1), spent],
    rules({ maxTurns: 1 }),
    end({ kind: 'time_limit' }),
  ],
  [
    'a driver that is done goes before the time limit',
    [opened(), spent, said('driver', 1, done)],
    rules(),
    goalMet,
  ],
  [
    'failed calls are no play time',
    [opened(), called('driver', { ms: 9_999, code: 'timed_out' })],
    rules(),
    { kind: 'drive', turn: 1 },
  ],
  [
    'waits are no play time',
    [opened(), called('driver', { code: 'rate_limited', wait_ms: 9_999 })],
    rules(),
    { kind: 'drive', turn: 1 },
  ],
  [
    "a judge's calls are no play time",
    [opened(), ...turn(1), called('judge', { ms: 9_999 })],
    rules(),
    { kind: 'drive', turn: 2 },
  ],

  [
    'a row without a driver says its input',
    [opened()],
    rules({ driver: { kind: 'none' } }),
    { kind: 'say', turn: 1 },
  ],
  [
    'a row without a driver has no greeting',
    [opened()],
    rules({ driver: { kind: 'none' }, first: 'target' }),
    { kind: 'say', turn: 1 },
  ],
  [
    'a row without a driver has one turn',
    [opened(), ...turn(1)],
    rules({ driver: { kind: 'none' } }),
    end({ kind: 'script_done' }),
  ],
  [
    'a script says its first step',
    [opened()],
    rules({ driver: mixed }),
    { kind: 'say', turn: 1, step: { kind: 'say', text: 'a' } },
  ],
  [
    'a script may be driven by its model',
    [opened(), ...turn(1)],
    rules({ driver: mixed }),
    { kind: 'drive', turn: 2 },
  ],
  [
    'for as many turns as it says',
    [opened(), ...turn(1), ...turn(2)],
    rules({ driver: mixed }),
    { kind: 'drive', turn: 3 },
  ],
  [
    'and goes on after them, past max_turns',
    [opened(), ...turn(1), ...turn(2), ...turn(3)],
    rules({ driver: mixed, maxTurns: 1 }),
    { kind: 'say', turn: 4, step: { kind: 'say', text: 'b' } },
  ],
  [
    'to its end',
    [opened(), ...turn(1), ...turn(2), ...turn(3), ...turn(4)],
    rules({ driver: mixed }),
    end({ kind: 'script_done' }),
  ],
];

describe('what happens next', () => {
  for (const [title, journal, itsRules, step] of table) {
    it(title, () => assert.deepEqual(nextStep(foldConversation(events(...journal)), itsRules), step));
  }
});

type Facts = Partial<
  Pick<
    Conversation,
    'generation' | 'restarts' | 'unsure' | 'fruitless' | 'unfit' | 'playMs' | 'waitedMs' | 'failing'
  >
>;

const timedOut = called('target', { code: 'timed_out', ms: 50, wait_ms: 7 });
const lostUnsure = called('target', { code: 'timed_out', unsure: true });

const folds: readonly (readonly [string, readonly Journaled[], Facts])[] = [
  ['nothing has happened before the first event', [], { generation: 0, unsure: false }],
  ['the first writer takes over from nobody', [resumed(), opened()], { unsure: false, fruitless: 0 }],
  [
    'a call is unsure after a writer that did not return in order',
    [resumed(), opened(), resumed()],
    { unsure: true, fruitless: 1 },
  ],
  [
    'no call is unsure after one that did',
    [resumed(), opened(), released, resumed()],
    { unsure: false, fruitless: 0 },
  ],
  [
    'an answer makes it sure again',
    [resumed(), opened(), resumed(), called('driver')],
    { unsure: false, fruitless: 0 },
  ],
  [
    "a judge's answer does not",
    [resumed(), opened(), ...turn(1), resumed(), called('judge')],
    { unsure: true },
  ],
  [
    'a call of unknown fate stays unsure past a return in order',
    [resumed(), opened(), lostUnsure, released, resumed()],
    { unsure: true },
  ],
  [
    'and past a try that certainly failed',
    [opened(), lostUnsure, called('target', { code: 'unavailable' })],
    { unsure: true },
  ],
  [
    'a call that certainly failed is sure',
    [opened(), called('target', { code: 'unavailable' })],
    { unsure: false },
  ],
  [
    'but not where its writer was lost after it',
    [resumed(), opened(), timedOut, resumed()],
    { unsure: true },
  ],
  [
    'tries, refusals and their times add up',
    [opened(), timedOut, called('target', { code: 'rate_limited', ms: 1, wait_ms: 2 })],
    {
      failing: { tries: 1, refusals: 1, ms: 60 },
      waitedMs: 60,
      playMs: 0,
    },
  ],
  [
    'until an answer comes',
    [opened(), timedOut, called('target')],
    { failing: { tries: 0, refusals: 0, ms: 0 }, waitedMs: 57, playMs: 100 },
  ],
  [
    'messages that were asked for again are counted until one is kept',
    [opened(), called('driver', { wasted: true })],
    { unfit: 1 },
  ],
  ['and then no more', [opened(), called('driver', { wasted: true }), ...turn(1)], { unfit: 0 }],
  [
    'a restart raises the generation and is counted',
    [opened(), ...turn(1), opened(2, 'unsure_call')],
    { generation: 2, restarts: 1, playMs: 0 },
  ],
  [
    'a lost session is counted too',
    [opened(), opened(2, 'lost_session'), opened(3, 'unsure_call')],
    { restarts: 2 },
  ],
  [
    'a lost worker is not',
    [opened(), opened(2, 'unsure_call'), opened(3, 'interrupted')],
    { generation: 3, restarts: 1 },
  ],
  [
    'a retry begins at nothing',
    [opened(), opened(2, 'unsure_call'), opened(3, 'retry')],
    { generation: 3, restarts: 0 },
  ],
  [
    'workers that are lost before anything new are counted',
    [resumed(), opened(), resumed(), resumed(), resumed()],
    { fruitless: 3 },
  ],
  [
    'also where each of them began again',
    [
      resumed(),
      opened(),
      ...turn(1),
      resumed(),
      opened(2, 'interrupted'),
      called('driver'),
      said('driver', 1),
      resumed(),
    ],
    { fruitless: 2 },
  ],
  [
    'until one gets further',
    [resumed(), opened(), said('driver', 1), resumed(), opened(2, 'interrupted'), ...turn(1)],
    { fruitless: 0 },
  ],
];

describe('where a conversation stands', () => {
  for (const [title, journal, facts] of folds) {
    it(title, () => {
      const now = foldConversation(events(...journal));
      const asked = Object.keys(facts) as (keyof Facts)[];
      assert.deepEqual(Object.fromEntries(asked.map((key) => [key, now[key]])), facts);
    });
  }

  it('forgets the messages, votes, checks, tools and session of an earlier generation', () => {
    const now = foldConversation(
      events(
        opened(),
        session(),
        ...turn(1),
        checked(1, 'pass'),
        { kind: 'state', turn: 1, state: 1 },
        { kind: 'vote', check: 'c', vote: 1, verdict: 'pass', reason: '' },
        { kind: 'ended', ending: { kind: 'max_turns' } },
        opened(2, 'retry'),
      ),
    );
    assert.deepEqual(now, { ...unopened, generation: 2, released: false });
  });

  it('keeps the id of a session that is renamed without one, and knows when it is closed', () => {
    const now = foldConversation(events(opened(), session(), { kind: 'session', open: false }));
    assert.deepEqual(now.session, { open: false, started: true, id: 's' });
  });

  it('holds each tool call once, with its result', () => {
    const call = { kind: 'tool_call', turn: 1, step: 1, id: 'a', name: 'f', args: {} } as const;
    const now = foldConversation(
      events(opened(), call, { ...call, id: 'b' }, { ...call, result: 1 }, { ...call, step: 2 }),
    );
    assert.deepEqual(
      now.toolCalls.map(({ id, step, result }) => [id, step, result]),
      [
        ['a', 1, 1],
        ['b', 1, undefined],
        ['a', 2, undefined],
      ],
    );
    const after = foldConversation(events(opened(), call, said('target', 1)));
    assert.deepEqual(after.toolCalls, []);
  });

  it('is broken by a final fault only', () => {
    const fault = {
      kind: 'fault',
      code: 'denied',
      blame: 'configuration',
      role: 'driver',
      message: '',
    } as const;
    assert.equal(foldConversation(events(opened(), { ...fault, final: false })).broken, undefined);
    assert.equal(foldConversation(events(opened(), { ...fault, final: true })).broken?.code, 'denied');
  });
});
