import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSweepFile } from '../../formats/sweep-file.ts';
import { aContext, aFixture, aSweep } from './a-context.ts';

const rows = {
  'scenarios/more.jsonl': '{"input":{"mood":"calm","since":"today","order":1},"expected":"none"}\n',
};

describe('a sweep file', () => {
  it('of a refund desk becomes a spec with all defaults', () => {
    const { spec, scenarios } = readSweepFile(aFixture('refund-desk.yaml'), aContext(rows));
    assert.deepEqual(
      scenarios.map(({ id }) => id),
      ['angry-refund', 'more-4d468e1b'],
    );
    assert.equal(spec.budgetUsd, 20);
    assert.deepEqual(spec.conversation, {
      first: 'driver',
      maxTurns: 8,
      stop: { check: 'refunded', on: 'pass' },
    });
    assert.deepEqual(spec.env, ['OPENAI_API_KEY']);
    assert.deepEqual(spec.timeouts, {
      callMs: 60_000,
      runMs: 900_000,
      giveUpMs: 86_400_000,
      sweepMs: 604_800_000,
    });
    assert.equal(spec.allowMissing, 0.01);
    assert.deepEqual(spec.checks.at(-1), {
      kind: 'judge',
      model: 'gpt',
      rubric: 'The desk stays polite, and settles what was expected ({expected}).',
      answer: { kind: 'scale', from: 1, to: 5 },
      votes: 1,
      name: 'polite',
      sees: 'transcript',
      at: 'end',
      rollup: 'all',
      required: false,
      not: false,
      atLeast: 4,
    });
    assert.equal(spec.thresholds.length, 4);
  });

  const everything = readSweepFile(aFixture('everything.yaml'), aContext());

  it('may hold every kind of target', () =>
    assert.deepEqual(
      everything.spec.targets.map(({ kind, variant }) => [variant, kind]),
      [
        ['one', 'chat'],
        ['two', 'http'],
        ['three', 'module'],
        ['four', 'script'],
      ],
    ));

  it('takes headers as JSON text, limits of calls under http, and rules of a stream', () => {
    const http = {
      retries: 5,
      idempotent: true,
      max_parallel_requests: 2,
      send: {
        url: 'http://a.test/',
        headers: '{"authorization": "Bearer {access_token}"}',
        reply: 'response.text',
        streaming: {
          stop: [{ value: true, path: 'done' }, { value: '[DONE]' }],
          select: [{ path: 'n', value: 1 }],
        },
      },
    };
    const value = { scenarios: [{ id: 'a', input: 'hi' }], target: { http } };
    const [target] = readSweepFile({ file: 'sweep.ts', value }, aContext()).spec.targets;
    assert.deepEqual([target?.retries, target?.idempotent, target?.maxParallelRequests], [5, true, 2]);
    assert.ok(target?.kind === 'http');
    assert.deepEqual(target.send.headers, { authorization: 'Bearer {access_token}' });
    assert.deepEqual(target.send.streaming, {
      kind: 'rules',
      stop: [{ value: 'true', path: 'done' }, { value: '[DONE]' }],
      select: [{ value: '1', path: 'n' }],
    });
  });

  it('takes a chat endpoint with server-sent events by its address alone, or with fields of its own', () => {
    const read = (chatEvents: unknown) => {
      const value = { scenarios: [{ id: 'a', input: 'hi' }], target: { http: { chat_events: chatEvents } } };
      const [target] = readSweepFile({ file: 'sweep.ts', value }, aContext()).spec.targets;
      assert.ok(target?.kind === 'http' && target.send.streaming?.kind === 'chat_events');
      return [target.send.url, target.send.body];
    };
    const url = 'http://a.test/api/agents/chat';
    const body = { message: '{latest_message}', threadId: '{session_id}' };
    assert.deepEqual(read(url), [url, body]);
    assert.deepEqual(read({ url, body: { agent: 'desk' } }), [url, { ...body, agent: 'desk' }]);
  });

  it('may hold every kind of check', () =>
    assert.deepEqual(
      everything.spec.checks.map(({ name, kind }) => [name, kind]),
      [
        ['enough', 'contains_all'],
        ['shout', 'contains_any'],
        ['pattern', 'matches_any'],
        ['patterns', 'matches_all'],
        ['same', 'equals'],
        ['json', 'is_json'],
        ['near', 'levenshtein'],
        ['called', 'calls_include'],
        ['in_order', 'calls_include'],
        ['never', 'calls_exclude'],
        ['args', 'call_args'],
        ['few', 'max_calls'],
        ['short', 'number'],
        ['cheap', 'number'],
        ['fair', 'judge'],
        ['graded', 'judge'],
        ['coded', 'code'],
      ],
    ));

  it('mixes what a script says with turns of a model', () =>
    assert.deepEqual(everything.spec.driver, {
      kind: 'script',
      steps: [
        { kind: 'say', text: 'Hello {zip}' },
        { kind: 'say', text: 'A brace \\{zip}, the price is $5' },
        { kind: 'drive', turns: 2 },
      ],
      drive: {
        model: 'actor',
        prompt: 'You are from {input.zip}.',
        temperature: 0.6,
        temperatureGiven: false,
        managed: false,
        faithful: 'grader',
      },
    }));

  it('keeps numbers that would lose something as text, in ids and rows alone', () => {
    const { id, input, tags, repeats, threshold } = everything.scenarios[0] ?? {};
    assert.deepEqual(
      { id, input, tags, repeats, threshold },
      {
        id: '1.10',
        input: { zip: '012', part: '12345678901234567890', amount: 2.5 },
        tags: ['7', 'plain'],
        repeats: 2,
        threshold: 0.5,
      },
    );
  });

  it("adds an item's own threshold to the gate", () =>
    assert.deepEqual(everything.spec.thresholds, [
      {
        text: 'pass_rate >= 0.5',
        metric: { kind: 'pass_rate', subject: { kind: 'outcome' } },
        comparison: '>=',
        value: 0.5,
        scenario: '1.10',
      },
    ]));

  it('lists the environment variables that it needs', () =>
    assert.deepEqual(everything.spec.env, ['ACTOR_URL', 'DESK_KEY', 'TEAM']));

  it('is named after its file where it has no name', () => assert.equal(everything.spec.name, 'everything'));

  it('without a driver has conversations of one turn', () => {
    const { spec } = readSweepFile(aSweep({ driver: '' }), aContext());
    assert.deepEqual([spec.driver.kind, spec.conversation.maxTurns], ['none', 1]);
  });

  it('can be JSON', () => {
    const value = { scenarios: [{ id: 'a', input: 1.1 }], target: { script: { replies: ['x'] } } };
    const text = JSON.stringify(value);
    const { scenarios } = readSweepFile({ file: 'sweep.json', format: 'json', text }, aContext());
    assert.deepEqual(scenarios, [{ id: 'a', input: 1.1, tags: [], meta: {} }]);
  });

  it('can be what a module exports', () => {
    const value = {
      scenarios: [{ id: 'a', input: 'Hi' }],
      target: { script: { replies: ['x'] } },
      seed: undefined,
    };
    assert.equal(readSweepFile({ file: 'sweep.ts', value }, aContext()).spec.seed, 0);
  });
});
