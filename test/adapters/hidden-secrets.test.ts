import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  CallOptions,
  ChatModels,
  ChatReply,
  Modules,
  TargetCall,
  TargetReply,
} from '../../activities/ports.ts';
import { hideSecrets } from '../../adapters/hidden-secrets.ts';
import { createSecrets } from '../../adapters/secrets.ts';
import type { Json } from '../../domain/json.ts';
import { aModel, aScenario } from '../sweep-builders.ts';

const key = 'sk-live-4711';
const { hide } = createSecrets({ env: { KEY: key }, allowed: ['KEY'] });
const options: CallOptions = { signal: new AbortController().signal, timeoutMs: 1_000, order: 0 };
const call: TargetCall = {
  runId: 's/a/1',
  scenario: aScenario('a'),
  repeat: 1,
  seed: 7,
  turn: 1,
  transcript: [],
  idempotencyKey: 's/a/1/1/1',
};

const spec = {
  kind: 'module',
  module: { file: 'desk.ts', sha256: '' },
  retries: 3,
  idempotent: false,
  onUnsureTurn: 'restart',
  onLostSession: 'restart',
  targetFaults: 'failed',
} as const;

/** What comes out of a model, a target and a module that answer so. */
function answering(said: { chat?: Partial<ChatReply>; reply?: Partial<TargetReply>; value?: Json }) {
  const chat: ChatReply = {
    text: '',
    toolCalls: [],
    ms: 1,
    costUsd: 0,
    dropped: [],
    usage: { inputTokens: 1, outputTokens: 1, estimated: false },
    ...said.chat,
  };
  const reply: TargetReply = { text: '', toolCalls: [], ms: 1, ...said.reply };
  const models: ChatModels = {
    chat: async () => chat,
    probe: async () => ({ calls: 1 }),
    abilities: () => ({ tools: true, answerSchema: true }),
  };
  const target = {
    sessions: true,
    start: async () => ({ ms: 1, sessionId: key, greeting: reply }),
    reply: async () => reply,
    end: async () => undefined,
  };
  const modules: Modules = { call: async () => said.value, prove: async () => undefined };
  return hideSecrets({ models, targets: { open: () => target }, modules }, hide);
}

test('the text and the tool calls of a model hold no secret', async () => {
  const asked = {
    id: '1',
    name: 'pay',
    args: { with: [`Bearer ${key}`] },
    argsText: `{"with":["Bearer ${key}"]}`,
  };
  const { models } = answering({ chat: { text: `It is ${key}.`, toolCalls: [asked] } });
  const { text, toolCalls } = await models.chat(aModel('http://localhost'), { messages: [] }, options);
  assert.equal(text, 'It is ${KEY}.');
  assert.deepEqual(toolCalls, [
    { id: '1', name: 'pay', args: { with: ['Bearer ${KEY}'] }, argsText: '{"with":["Bearer ${KEY}"]}' },
  ]);
});

test('text, tool calls and metadata of a target hold no secret, and its session keeps its id', async () => {
  const toolCalls = [{ name: 'look', args: key, result: { found: key } }];
  const { targets } = answering({ reply: { text: key, toolCalls, metadata: { trace: key } } });
  const target = targets.open(spec);
  const { greeting, sessionId } = await target.start(call, options);
  assert.equal(sessionId, key);
  for (const reply of [greeting, await target.reply(call, options)]) {
    assert.equal(reply?.text, '${KEY}');
    assert.deepEqual(reply?.toolCalls, [{ name: 'look', args: '${KEY}', result: { found: '${KEY}' } }]);
    assert.deepEqual(reply?.metadata, { trace: '${KEY}' });
  }
});

test('what a module answers holds no secret, however deep', async () => {
  const { modules } = answering({ value: { result: [{ a: key }, 7, null, true] } });
  const answer = await modules.call({ file: 'a.ts', sha256: '' }, 'default', null, {
    ...options,
    blame: 'judge',
  });
  assert.deepEqual(answer, { result: [{ a: '${KEY}' }, 7, null, true] });
});
