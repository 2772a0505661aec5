import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../../activities/ports.ts';
import { createModuleTarget } from '../../adapters/module-target.ts';
import { createTurnstile } from '../../adapters/turnstile.ts';
import type { ModuleTarget } from '../../domain/sweep-spec.ts';
import { openProject, type Project } from './modules/project.ts';
import { aCall, aMessage, isFault, options } from './target-parts.ts';

type Calls = Pick<ModuleTarget, 'calls' | 'batchSize'>;

async function openTarget(text: string, calls: Calls = {}): Promise<Project & { readonly target: Target }> {
  const project = openProject();
  const module = await project.write('model.ts', text);
  const parts = { modules: project.modules, turnstile: createTurnstile() };
  return { ...project, target: createModuleTarget({ kind: 'module', module, ...calls }, parts) };
}

/** What `invoke` of one input answered, read as a reply. */
async function invoked(answer: string, calls: Calls = { calls: 'single' }) {
  const { target, close } = await openTarget(`export const invoke = (input: any) => (${answer});`, calls);
  try {
    const { ms: _, ...reply } = await target.reply(aCall(), options());
    return reply;
  } finally {
    await close();
  }
}

const predictions: readonly (readonly [string, string, object])[] = [
  ['text', '"spam"', { text: 'spam' }],
  ['a list', '["d1", "d2"]', { text: '["d1","d2"]' }],
  ['an object', '({ label: "spam" })', { text: '{"label":"spam"}' }],
  ['false', 'false', { text: 'false' }],
  ['a pair of prediction and metadata', '["spam", { tokens: 3 }]', { text: 'spam', metadata: { tokens: 3 } }],
  [
    'a pair whose prediction is a list of pairs',
    '[[["d1", 0.9]], { took: 1 }]',
    { text: '[["d1",0.9]]', metadata: { took: 1 } },
  ],
  ['two objects, which are a list', '[{ id: 1 }, { id: 2 }]', { text: '[{"id":1},{"id":2}]' }],
  [
    'an invocation',
    '({ modelPrediction: "spam", modelInput: "q", modelOutputMetadata: { t: 1 }, toolCalls: [{ name: "f", args: {} }] })',
    { text: 'spam', metadata: { t: 1, model_input: 'q' }, toolCalls: [{ name: 'f', args: {} }] },
  ],
  [
    'an invocation by the names with underscores',
    '({ model_prediction: ["d1"], model_output_metadata: { t: 1 }, tool_calls: [] })',
    { text: '["d1"]', metadata: { t: 1 } },
  ],
];
for (const [title, answer, reply] of predictions) {
  test(`a model may answer with ${title}`, async () =>
    assert.deepEqual(await invoked(answer), { toolCalls: [], ...reply }));
}

test('a model gets the input of its scenario as it is, and what else a driver says as text', async (t) => {
  const { target, close } = await openTarget('export const invoke = (input: any) => ({ input });', {
    calls: 'single',
  });
  t.after(close);
  const asked = async (latestMessage: string) =>
    JSON.parse((await target.reply(aCall({ latestMessage }), options())).text);
  assert.deepEqual(await asked('{"name":"Ada"}'), { input: { name: 'Ada' } });
  assert.deepEqual(await asked('and now?'), { input: 'and now?' });
});

test('an invocation that brings an error is a fault of the target', () =>
  assert.rejects(
    invoked('({ modelPrediction: null, error: { message: "no quota" } })'),
    isFault('module_error', 'target', ['model.ts invoke()', 'no quota']),
  ));

test('an answer of the wrong shape in a conversation says what was expected', () =>
  assert.rejects(
    invoked('42', {}),
    isFault('bad_reply', 'target', ['model.ts invoke() answered with 42', '{ text } or { modelPrediction }']),
  ));

test('a module without the function that its calls need is a matter of configuration', async (t) => {
  const { target, close } = await openTarget('export const reply = () => "hi";', { calls: 'batch' });
  t.after(close);
  const isLacking = isFault('not_found', 'configuration', ['exports no function "invokeBatch"']);
  await assert.rejects(target.reply(aCall(), options()), isLacking);
});

const batches = `
  let batches = 0;
  export async function invokeBatch(inputs: { id: string; inputValue: unknown }[]) {
    batches += 1;
    return inputs.toReversed().map(({ id, inputValue }) =>
      ({ id, modelInvocation: [inputValue + ' in batch ' + batches + ' of ' + inputs.length, { id }] }));
  }
`;

const asking = (target: Target, ...texts: readonly string[]) =>
  Promise.all(
    texts.map((latestMessage) =>
      target.reply(aCall({ latestMessage, idempotencyKey: latestMessage }), options()),
    ),
  );

test('inputs that come together are asked for in batches of the given size', async (t) => {
  const { target, close } = await openTarget(batches, { calls: 'batch', batchSize: 2 });
  t.after(close);
  const replies = await asking(target, 'a', 'b', 'c', 'd');
  assert.deepEqual(
    replies.map(({ text }) => text.replace(/batch \d/, 'batch')),
    ['a in batch of 2', 'b in batch of 2', 'c in batch of 2', 'd in batch of 2'],
  );
  assert.deepEqual(replies[3]?.metadata, { id: 'd' });
});

test('a batch that is not full leaves soon', async (t) => {
  const { target, close } = await openTarget(batches, { calls: 'batch', batchSize: 100 });
  t.after(close);
  const replies = await asking(target, 'a', 'b', 'c');
  assert.deepEqual(
    replies.map(({ text }) => text),
    ['a in batch 1 of 3', 'b in batch 1 of 3', 'c in batch 1 of 3'],
  );
});

test('an input that a batch leaves out is a bad reply, and the others have theirs', async (t) => {
  const { target, close } = await openTarget(
    'export const invokeBatch = (inputs: any[]) => inputs.slice(1).map(({ id }) => ({ id, model_invocation: "ok" }));',
    { calls: 'batch', batchSize: 2 },
  );
  t.after(close);
  const [first, second] = await Promise.allSettled([asking(target, 'a'), asking(target, 'b')]);
  assert.ok(first?.status === 'rejected');
  isFault('bad_reply', 'target', ['invokeBatch() answered without the id a'])(first.reason);
  assert.ok(second?.status === 'fulfilled');
});

test('who leaves a batch gets its own reason, and the others have their answer', async (t) => {
  const { target, close } = await openTarget(batches, { calls: 'batch', batchSize: 3 });
  t.after(close);
  const caller = new AbortController();
  const reason = new Error('cancelled');
  const left = target.reply(aCall({ latestMessage: 'x' }), options({ signal: caller.signal }));
  const others = asking(target, 'a');
  caller.abort(reason);
  await assert.rejects(left, (error) => error === reason);
  assert.equal((await others)[0]?.text, 'a in batch 1 of 1');
});

const sessions = `
  const opened = new Map<string, number>();
  export const startSession = ASYNC(input: { name: string }) => {
    const id = 's' + (opened.size + 1);
    opened.set(id, 0);
    return [id, { modelPrediction: 'Welcome, ' + input.name }];
  };
  export const invoke = ASYNC(messages: { role: string; content: string }[], input: { name: string }, id: string) => {
    opened.set(id, (opened.get(id) ?? NaN) + 1);
    return { modelPrediction: input.name + ' said ' + messages.at(-1)?.content + ', ' + id + ':' + opened.get(id) };
  };
  export const endSession = ASYNC(id: string) => {
    if (!opened.delete(id)) throw new Error('no session ' + id);
  };
`;
for (const kind of ['', 'async ']) {
  test(`a conversation by startSession, ${kind}invoke and endSession`, async (t) => {
    const { target, close } = await openTarget(sessions.replaceAll('ASYNC', kind));
    t.after(close);
    const { sessionId = '', greeting } = await target.start(aCall(), options());
    assert.equal(greeting?.text, 'Welcome, Ada');
    const transcript = [aMessage('target', 'Welcome, Ada', 0), aMessage('driver', 'hello')];
    const call = aCall({ sessionId, transcript });
    assert.equal((await target.reply(call, options())).text, 'Ada said hello, s1:1');
    assert.equal((await target.reply(call, options())).text, 'Ada said hello, s1:2');
    await target.end(call, options());
    await assert.rejects(target.end(call, options()), isFault('module_error', 'target', ['no session s1']));
  });
}

test('a target that speaks first is asked with no messages', async (t) => {
  const { target, close } = await openTarget(
    'export const invoke = (messages: unknown[], input: unknown, id: unknown) => messages.length + " messages, " + id;',
  );
  t.after(close);
  const { latestMessage: _, ...greeting } = aCall({ transcript: [], turn: 0 });
  assert.equal((await target.reply(greeting, options())).text, '0 messages, null');
});
