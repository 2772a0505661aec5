import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readChatMessages } from '../../cli/evaluate/chat-messages.ts';
import { readTranscripts } from '../../cli/evaluate/read-transcripts.ts';
import { writeJournals } from '../../cli/evaluate/write-journals.ts';
import { exitCodes } from '../../cli/exit-codes.ts';
import type { Json } from '../../domain/json.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';
import { aUser, type User } from '../bad-days/user.ts';
import { aScenario } from '../sweep-builders.ts';
import { aFolder, aStoredSweep } from './stored-sweep.ts';
import { aShell } from './test-shell.ts';

const sweep = {
  name: 'desk',
  models: {
    judge: { model: 'practice', base_url: `\${PRACTICE_URL}`, price: { input: 1, output: 1 } },
    // Nobody calls it, and its key is not set.
    driver: { model: 'away', base_url: 'http://127.0.0.1:9/v1', api_key: `\${DRIVER_KEY}` },
  },
  scenarios: [
    { id: 'calm', input: { order: 1 }, expected: 'refunded', tags: ['refund'] },
    { id: 'angry', input: { order: 2 }, expected: 'refunded' },
  ],
  driver: { model: 'driver', prompt: 'You want order {order} refunded.' },
  target: { http: { send: { url: 'http://127.0.0.1:9/chat', reply: 'response.text' } } },
  conversation: { stop: { check: 'settled', on: 'pass' } },
  checks: {
    settled: { contains_any: '{expected}' },
    looked_up: { calls_include: ['find_order'], for_tag: 'refund' },
    each: { matches_any: '[.!]', at: 'each_turn', rollup: 'all' },
    polite: { judge: 'judge', rubric: 'The desk is polite.' },
    quick: { reply_seconds: { at_most: 5 } },
  },
  thresholds: ['pass_rate >= 0.5', 'p95(reply_seconds) <= 5'],
};

const call = { id: 'c1', type: 'function', function: { name: 'find_order', arguments: '{"order":1}' } };
const good = [
  { role: 'system', content: 'You are a desk.' },
  { role: 'user', content: 'Where is my money?' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: '{"eur":20}' },
  { role: 'assistant', content: 'It is refunded.' },
];
const bad = [
  { role: 'user', content: 'Where is my money?' },
  { role: 'assistant', content: 'No idea.' },
];

function linesOf(...rows: readonly Json[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

describe('evaluate', { timeout: 120_000 }, () => {
  let practice: PracticeModel;
  let user: User;
  before(async () => {
    practice = await startPracticeModel({ latencyMs: 0 });
    user = await aUser({ PRACTICE_URL: practice.url });
    await user.write('sweep.json', JSON.stringify(sweep));
    const rows = [
      { scenario: 'calm', messages: good },
      { scenario: 'calm', messages: bad },
      { id: 'own', expected: 'idea', source: 'phone', messages: bad },
    ];
    await user.write('chats.jsonl', linesOf(...rows));
  });
  after(async () => {
    await user?.leave();
    await practice?.close();
  });

  it('scores transcripts with the checks of a sweep, and exits with its gate', async () => {
    const args = ['evaluate', 'chats.jsonl', '--sweep', 'sweep.json', '--id', 'held', '--json'];
    const { code, stdout, stderr } = await user.regatta(args);
    assert.equal(code, exitCodes.done, stderr);
    assert.match(stderr, /^3 conversations of 2 scenarios; nothing is played\n/);
    assert.match(
      stderr,
      /\nwarning: left out, .*: the check quick\n.*: the threshold p95\(reply_seconds\) <= 5\n/,
    );
    const report = JSON.parse(stdout);
    assert.deepEqual([report.gate, report.runs.passed, report.runs.failed], ['open', 2, 1]);
    assert.deepEqual(
      report.checks.map(({ check, passed, failed }: { [name: string]: Json }) => [check, passed, failed]),
      [
        ['settled', 2, 1],
        ['looked_up', 1, 1],
        ['each', 3, 0],
        ['polite', 3, 0],
      ],
    );
    assert.equal(practice.stats().calls, 3, 'a judgement each, and no conversation');
    const shown = JSON.parse((await user.regatta(['show', 'held/calm/1', '--json'])).stdout);
    assert.deepEqual([shown.outcome, shown.ending.kind ?? shown.ending], ['passed', 'script_done']);
    assert.deepEqual(shown.messages[1].tool_calls, [
      { name: 'find_order', args: { order: 1 }, result: { eur: 20 } },
    ]);
    const record = await user.store.readSweep('held');
    assert.equal(record?.created.imported, 'chats.jsonl');
    const { scenarios } = await user.store.readShard('held', 0);
    assert.deepEqual(scenarios[1]?.meta, { source: 'phone' });
    assert.equal(scenarios[1]?.input, 'Where is my money?');
  });

  it('attaches to what the same id has scored, and refuses other transcripts under it', async () => {
    const calls = practice.stats().calls;
    const args = ['--sweep', 'sweep.json', '--id', 'held'];
    const again = await user.regatta(['evaluate', 'chats.jsonl', ...args]);
    assert.equal(again.code, exitCodes.done, again.stderr);
    assert.equal(practice.stats().calls, calls);
    await user.write('others.jsonl', linesOf({ scenario: 'calm', messages: bad }));
    const other = await user.regatta(['evaluate', 'others.jsonl', ...args]);
    assert.equal(other.code, exitCodes.usage);
    assert.match(other.stderr, /the id held is taken by another sweep/);
  });
});

it('a run whose journal was lost while importing is broken, never scored on a conversation that was not held', async () => {
  const { createScriptTarget } = await import('../../adapters/script-target.ts');
  const target = createScriptTarget({ kind: 'script', replies: [] });
  const asked = {
    ...{ runId: 'held/calm/1', scenario: aScenario('calm'), repeat: 1, seed: 1, turn: 1, transcript: [] },
    idempotencyKey: 'held/calm/1/1/1',
  };
  const options = { signal: new AbortController().signal, timeoutMs: 1_000, order: 0 };
  await assert.rejects(target.reply(asked, options), {
    blame: 'configuration',
    message: /were held elsewhere/,
  });
});

it('an import that broke off is taken up, and one that is whole is left as it is', async () => {
  const here = await aFolder();
  const { store, runs } = await aStoredSweep(here.folder);
  const held = {
    scenario: aScenario('calm'),
    repeat: 1,
    transcript: readChatMessages(bad, assert.fail).transcript,
  };
  const conversations = new Map(runs.slice(0, 1).map((run) => [run.id, held]));
  const [run] = runs;
  assert.ok(run !== undefined);
  const torn = await store.openJournal(run.id, '0-1-import');
  await torn.close();
  for (const at of [1, 2]) await writeJournals(store, runs, conversations, { at, version: '1' });
  const { events, writers } = await store.readJournal(run.id);
  assert.equal(writers, 2);
  assert.deepEqual(
    events.slice(2).map(({ kind, at }) => [kind, at]),
    ['opened', 'message', 'message', 'ended', 'released'].map((kind) => [kind, 1]),
  );
  await here.remove();
});

describe('chat messages', () => {
  const read = (...messages: readonly Json[]) => readChatMessages(messages, assert.fail).transcript;
  const said = (...messages: readonly Json[]) =>
    read(...messages).map(({ by, turn, text }) => [by, turn, text]);

  it('count turns from the first thing that the driver says; a greeting is turn 0', () => {
    assert.deepEqual(
      said(
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'Hi.' },
        { role: 'user', content: 'Where?' },
      ),
      [
        ['target', 0, 'Hello.'],
        ['driver', 1, 'Hi.\n\nWhere?'],
      ],
    );
  });

  it('may be lists of parts', () => {
    assert.deepEqual(said({ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }), [
      ['driver', 1, 'Hi.'],
    ]);
  });

  it('put the result of a tool to the call that its id names', () => {
    const calls = ['a', 'b'].map((id) => ({ id, function: { name: 'look', arguments: `{"at":"${id}"}` } }));
    const [reply] = read(
      { role: 'assistant', content: '', tool_calls: calls },
      { role: 'tool', tool_call_id: 'b', content: 'second' },
      { role: 'tool', tool_call_id: 'a', content: 'first' },
    );
    assert.deepEqual(reply?.toolCalls, [
      { name: 'look', args: { at: 'a' }, result: 'first' },
      { name: 'look', args: { at: 'b' }, result: 'second' },
    ]);
  });
});

describe('a file of transcripts', () => {
  let here: Awaited<ReturnType<typeof aFolder>>;
  before(async () => {
    here = await aFolder();
  });
  after(() => here.remove());

  async function read(name: string, text: string) {
    await writeFile(join(here.folder, name), text);
    return readTranscripts(aShell({ cwd: here.folder }), name, [aScenario('calm'), aScenario('angry')]);
  }

  it('names every mistake with its line', async () => {
    const rows = linesOf(
      { scenario: 'clam', messages: bad },
      { scenario: 'calm' },
      { messages: [{ role: 'usr', content: 'Hi.' }] },
      { messages: [...bad, { role: 'tool', tool_call_id: 'x', content: '' }] },
      { scenario: 'calm', repeat: 0, messages: bad },
    );
    await assert.rejects(read('chats.jsonl', `${rows}{"messages"`), ({ message }: Error) => {
      assert.deepEqual(
        message.split('\n').map((line) => line.replace(/Unexpected.*|Expected.*/, '')),
        [
          'chats.jsonl:1 scenario: the sweep has no scenario "clam" (did you mean "calm"?)',
          'chats.jsonl:2: "messages" is missing or empty (a list of {"role": "user" or "assistant", "content"})',
          'chats.jsonl:3 messages.0: there is no role "usr" (did you mean "user"?)',
          'chats.jsonl:4 messages.2: the result belongs to no tool call before it (see its tool_call_id)',
          'chats.jsonl:5 repeat: "repeat" must be a whole number from 1 to 10000',
          'chats.jsonl:6: not JSON: ',
        ],
      );
      return true;
    });
  });

  it('may be a YAML list', async () => {
    const [held] = await read(
      'chats.yaml',
      '- scenario: calm\n  messages:\n    - role: user\n      content: Hi.\n',
    );
    assert.deepEqual([held?.scenario.id, held?.transcript[0]?.text], ['calm', 'Hi.']);
  });

  it('gives conversations of one scenario the repeats that they name, then the next free ones', async () => {
    const rows = [{}, { repeat: 1 }, {}].map((row) => ({ scenario: 'calm', messages: bad, ...row }));
    const held = await read('chats.jsonl', linesOf(...rows));
    assert.deepEqual(
      held.map(({ repeat }) => repeat),
      [2, 1, 3],
    );
  });

  it('refuses one id for two scenarios, and one repeat twice', async () => {
    const rows = linesOf(
      { id: 'x', expected: 'a', messages: bad },
      { id: 'X', expected: 'b', messages: bad },
      { scenario: 'calm', repeat: 1, messages: bad },
      { scenario: 'calm', repeat: 1, messages: bad },
    );
    await assert.rejects(read('chats.jsonl', rows), {
      message:
        'chats.jsonl:2: the id "X" stands for two scenarios (the first is at chats.jsonl:1)\n' +
        'chats.jsonl:4 repeat: repeat 1 of "calm" is there twice',
    });
  });

  it('that is not there is a usage error', async () => {
    await writeFile(join(here.folder, 'sweep.json'), JSON.stringify(sweep));
    const { exitCode, err } = await here.regatta(['evaluate', 'none.jsonl', '--sweep', 'sweep.json']);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, /^cannot read none\.jsonl: /);
  });
});
