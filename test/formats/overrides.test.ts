import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeMistake, UsageError } from '../../domain/usage-error.ts';
import { type Overrides, readSweepWith } from '../../formats/overrides.ts';
import { aContext, aSweep } from './a-context.ts';

const sweep = aSweep({
  models:
    'models: { gpt: { model: a, base_url: "http://a" }, "big-4.1": { model: b, base_url: "http://b" } }',
  scenarios: `scenarios:
  - { id: late-1, input: { mood: sad }, tags: [late], repeats: 9, threshold: 0.5 }
  - { id: late-2, input: { mood: mad }, tags: [late, slow] }
  - { id: Lost, input: { mood: odd } }`,
  target: `target:
  http:
    start: { url: "http://localhost:1/start" }
    send: { url: "http://localhost:1/chat", reply: text }
    end: { url: "https://elsewhere/end" }`,
  checks: 'checks: { kind: { judge: gpt, rubric: x }, short: { equals: x } }',
});

function load(overrides: Overrides, files: Readonly<Record<string, string>> = {}) {
  return readSweepWith(sweep, aContext(files), overrides);
}

function idsOf(overrides: Overrides): readonly string[] {
  return load(overrides).scenarios.map(({ id }) => id);
}

function mistakesOf(overrides: Overrides): readonly string[] {
  try {
    load(overrides);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.mistakes.map(describeMistake);
  }
}

function urlsOf(target: string): readonly (string | undefined)[] {
  const [http] = load({ target }).spec.targets;
  return http?.kind === 'http' ? [http.start?.url, http.send.url, http.end?.url] : [];
}

describe('flags that select scenarios', () => {
  it('match ids with wildcards, whatever the letter case', () => {
    assert.deepEqual(idsOf({ only: 'LATE-*' }), ['late-1', 'late-2']);
    assert.deepEqual(idsOf({ only: 'lo?t' }), ['Lost']);
    assert.deepEqual(idsOf({ only: 'late-1' }), ['late-1']);
  });

  it('go by tags', () => {
    assert.deepEqual(idsOf({ tags: ['late'] }), ['late-1', 'late-2']);
    assert.deepEqual(idsOf({ tags: ['late'], excludeTags: ['slow'] }), ['late-1']);
  });

  it('take the first so many', () =>
    assert.deepEqual(idsOf({ limit: 1, excludeTags: ['slow'] }), ['late-1']));

  it('take the own thresholds of the others with them', () => {
    assert.deepEqual(load({ only: 'lost' }).spec.thresholds, []);
    assert.equal(load({ only: 'late-1' }).spec.thresholds.length, 1);
  });

  it('must leave a scenario, unless none is asked for', () => {
    assert.deepEqual(mistakesOf({ only: 'x' }), [
      'none of the 3 scenarios is selected (look at --only, --tag, --exclude-tag and --limit, or add --allow-empty)',
    ]);
    assert.deepEqual(idsOf({ only: 'x', allowEmpty: true }), []);
  });
});

describe('flags that change values', () => {
  it("beat the file's repeats and an item's own", () => {
    const { spec, scenarios } = load({ repeats: 2 });
    assert.deepEqual([spec.repeats, scenarios[0]?.repeats], [2, undefined]);
  });

  it('set the window', () => assert.equal(load({ concurrency: 3 }).spec.concurrency, 3));

  it('set any path, the value read as YAML', () => {
    const { spec } = load({ set: ['conversation.max_turns=3', 'checks.short={ contains_any: [a, b] }'] });
    assert.deepEqual([spec.conversation.maxTurns, spec.checks[1]?.kind], [3, 'contains_any']);
  });

  it('find keys that hold dots', () =>
    assert.equal(load({ set: ['models.big-4.1.rpm=5'] }).spec.models['big-4.1']?.rpm, 5));

  it('reach into lists', () => {
    assert.equal(load({ set: ['scenarios.0.id=first'] }).scenarios[0]?.id, 'first');
    assert.deepEqual(mistakesOf({ set: ['scenarios.7.id=x'] }), [
      '--set scenarios.7.id=x: "scenarios" has no item 7 (it has 3, counted from 0)',
    ]);
  });

  it('are checked like the file, and named in mistakes', () => {
    assert.deepEqual(mistakesOf({ set: ['conversation.max_turn=3'] }), [
      '--set conversation.max_turn=3 conversation.max_turn: unknown key "max_turn" (did you mean "max_turns"?)',
    ]);
    assert.deepEqual(mistakesOf({ repeats: 0 }), ['--repeats repeats: must be at least 1, not 0']);
  });

  it('must have a path and a value', () =>
    assert.deepEqual(mistakesOf({ set: ['seed'] }), [
      '--set seed: must be path=value (for instance --set conversation.max_turns=3)',
    ]));

  it('put another model in the place of every judge', () => {
    const judges = load({ judgeModel: 'big-4.1' }).spec.checks.map((check) =>
      check.kind === 'judge' ? check.model : '-',
    );
    assert.deepEqual(judges, ['big-4.1', '-']);
    assert.deepEqual(mistakesOf({ judgeModel: 'gtp' }), [
      '--judge-model checks.kind.judge: there is no model "gtp" (did you mean "gpt"?)',
    ]);
  });
});

describe('another target', () => {
  it('may be a server: requests to the old one go there', () =>
    assert.deepEqual(urlsOf('https://stage.example'), [
      'https://stage.example/start',
      'https://stage.example/chat',
      'https://elsewhere/end',
    ]));

  it('may be the address of `send`', () =>
    assert.deepEqual(urlsOf('https://stage.example/v2/chat'), [
      'https://stage.example/start',
      'https://stage.example/v2/chat',
      'https://elsewhere/end',
    ]));

  it('may be a module', () => assert.equal(load({ target: 'mine.ts' }).spec.targets[0]?.kind, 'module'));

  it('may be a file that holds a target', () =>
    assert.equal(
      load({ target: 't.yaml' }, { 't.yaml': 'script: { replies: [x] }' }).spec.targets[0]?.kind,
      'script',
    ));

  it('must be there', () =>
    assert.deepEqual(mistakesOf({ target: 'none.yaml' }), ['--target: there is no file none.yaml']));
});
