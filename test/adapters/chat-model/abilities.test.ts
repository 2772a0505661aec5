import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatRequest } from '../../../activities/ports.ts';
import { benchOf, completion, inTurn, type Script, say } from './model-server.ts';

const hello = completion({ content: 'hi' });

/** Refuses requests with one of these parameters. */
function refusing(names: readonly string[], message: (name: string) => string, status = 400): Script {
  return (response, seen, index) => {
    const name = names.find((one) => one in seen.body);
    const body = name === undefined ? hello : { error: { message: message(name) } };
    say(body, name === undefined ? 200 : status)(response, seen, index);
  };
}

const unsupported = (name: string): string =>
  `Unsupported parameter: '${name}' is not supported with this model.`;
const tools: ChatRequest['tools'] = [{ name: 'end', schema: { type: 'object' } }];

test('a default temperature that an endpoint refuses is left out, recorded and not sent again', async () => {
  const bench = await benchOf(refusing(['temperature'], unsupported));
  const first = await bench.chat({ temperature: 0.6, temperatureOptional: true });
  assert.deepEqual([first.text, first.dropped, bench.seen.length], ['hi', ['temperature'], 2]);
  const second = await bench.chat({ temperature: 0.6, temperatureOptional: true });
  assert.deepEqual([second.dropped, bench.seen.length], [['temperature'], 3]);
});

test('a written temperature that an endpoint refuses is an invalid request', async () => {
  const bench = await benchOf(refusing(['temperature'], unsupported));
  assert.equal((await bench.fault({ temperature: 0.6 })).code, 'invalid_request');
  assert.equal(bench.seen.length, 1);
});

test('seed and temperature are left out one after the other', async () => {
  const bench = await benchOf(refusing(['seed', 'temperature'], unsupported));
  const reply = await bench.chat({ temperature: 0, temperatureOptional: true, seed: 7 });
  assert.deepEqual([...reply.dropped].sort(), ['seed', 'temperature']);
});

test('the parameter that a message names first is the one that is left out', async () => {
  const bench = await benchOf(
    refusing(['seed'], () => "Unknown parameter 'seed'; known are temperature and top_p"),
  );
  const reply = await bench.chat({ temperature: 0, temperatureOptional: true, seed: 7 });
  assert.deepEqual(reply.dropped, ['seed']);
});

test('a parameter is found by where a validation error lies', async () => {
  const detail = [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' }];
  const bench = await benchOf(inTurn(say({ detail }, 422), say(hello)));
  assert.deepEqual((await bench.chat({ seed: 7 })).dropped, ['seed']);
});

test('a forced tool that an endpoint refuses is offered freely', async () => {
  const bench = await benchOf(
    refusing(['tool_choice'], () => 'tool_choice is not supported in thinking mode'),
  );
  const reply = await bench.chat({ tools, toolChoice: 'end' });
  assert.deepEqual(reply.dropped, ['tool_choice']);
  assert.ok('tools' in (bench.seen[1]?.body ?? {}));
  assert.equal(bench.models.abilities(bench.model).tools, true);
});

for (const [name, other] of [
  ['max_tokens', 'max_completion_tokens'],
  ['max_completion_tokens', 'max_tokens'],
] as const) {
  test(`an endpoint that refuses ${name} gets ${other}, also in the next call`, async () => {
    const bench = await benchOf(
      refusing([name], (refused) => `'${refused}' is not supported, use '${other}'`),
    );
    await bench.chat({ maxTokens: 16 });
    await bench.chat({ maxTokens: 16 });
    assert.equal(bench.seen.at(-1)?.body[other], 16);
    assert.equal(bench.seen.length, name === 'max_tokens' ? 3 : 2);
  });
}

test('an unnamed refusal of a request with a limit of tokens is tried once with the other name', async () => {
  const bench = await benchOf(say({ error: { message: 'bad request' } }, 400));
  assert.equal((await bench.fault({ maxTokens: 16 })).code, 'invalid_request');
  assert.deepEqual(
    bench.seen.map(({ body }) => Object.keys(body).find((key) => key.startsWith('max'))),
    ['max_tokens', 'max_completion_tokens'],
  );
});

const toolRefusals: readonly (readonly [status: number, message: string])[] = [
  [400, 'registry/small-1 does not support tools'],
  [404, 'No endpoints found that support tool use.'],
  [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  [500, 'tools param requires --jinja flag'],
  [400, 'Unrecognized request argument supplied: tools'],
  [400, 'Function calling is not enabled for this model'],
];
for (const [status, message] of toolRefusals) {
  test(`an endpoint without tools is learned from: ${message}`, async () => {
    const bench = await benchOf(refusing(['tools'], () => message, status));
    const fault = await bench.fault({ tools });
    assert.equal(fault.code, 'invalid_request');
    assert.deepEqual(fault.cause, { kind: 'ability', ability: 'tools', status });
    assert.deepEqual(bench.models.abilities(bench.model), { tools: false, answerSchema: true });
  });
}

const schemaRefusals: readonly string[] = [
  "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
  'This model does not support structured outputs',
  "response_format.type must be 'text' or 'json_object'",
];
for (const message of schemaRefusals) {
  test(`an endpoint without schemas is learned from: ${message}`, async () => {
    const bench = await benchOf(refusing(['response_format'], () => message));
    const fault = await bench.fault({ answerSchema: { name: 'verdict', schema: { type: 'object' } } });
    assert.deepEqual(fault.cause, { kind: 'ability', ability: 'answerSchema', status: 400 });
    assert.deepEqual(bench.models.abilities(bench.model), { tools: true, answerSchema: false });
  });
}

test('a fresh endpoint is believed to be able to do everything', async () => {
  const bench = await benchOf(say(hello));
  assert.deepEqual(bench.models.abilities(bench.model), { tools: true, answerSchema: true });
});

test('an ending that names a parameter is an ending', async () => {
  const message = 'maximum context length is 10 tokens; temperature does not matter';
  const bench = await benchOf(say({ error: { message } }, 400));
  assert.equal((await bench.fault({ temperature: 1, temperatureOptional: true })).code, 'context_full');
  assert.equal(bench.seen.length, 1);
});
