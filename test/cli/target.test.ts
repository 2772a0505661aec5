import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { exitCodes } from '../../cli/exit-codes.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { pathReach } from '../../domain/json-path.ts';
import { aFolder } from './stored-sweep.ts';

type Call = { readonly path: string; readonly body: JsonObject };

/** A desk with a login, sessions and a chat, and a model that looks up an order before it answers. */
async function openDesk() {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body: Json = text === '' ? {} : JSON.parse(text);
    const call = { path: request.url ?? '', body: isJsonObject(body) ? body : {} };
    calls.push(call);
    const [status, answer] = answerTo(call);
    if (call.path === '/stream')
      response.end('data: {"t":"Hel","id":7}\n\ndata: {"t":"lo"}\n\ndata: [DONE]\n\n');
    else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerTo({ path, body }: Call): readonly [number, Json] {
  switch (path) {
    case '/login':
      return [200, { token: 'token-of-an-hour' }];
    case '/sessions':
      return [200, { id: 's-1' }];
    case '/chat':
      return [
        200,
        { data: { text: `You said ${body.message}`, calls: [{ name: 'find', args: { order: 1 } }] } },
      ];
    case '/v1/chat/completions':
      return [200, completion(body)];
    case '/stream':
      return [200, 'a stream'];
    case '/broken':
      return [500, { oops: true }];
    default:
      return [200, {}];
  }
}

function completion({ messages }: JsonObject): Json {
  const last: Json | undefined = Array.isArray(messages) ? messages.at(-1) : undefined;
  const isAsked = isJsonObject(last) && last.role === 'user';
  const call = { id: 'c1', type: 'function', function: { name: 'find_order', arguments: '{"order":1}' } };
  const message = isAsked
    ? { role: 'assistant', content: null, tool_calls: [call] }
    : { role: 'assistant', content: 'It is on its way.' };
  return { choices: [{ message }], usage: { prompt_tokens: 1, completion_tokens: 1 } };
}

describe('target test', () => {
  let here: Awaited<ReturnType<typeof aFolder>>;
  let desk: Awaited<ReturnType<typeof openDesk>>;
  before(async () => {
    [here, desk] = await Promise.all([aFolder(), openDesk()]);
    await write('http.json', { target: { http: httpTarget(desk.url) } });
  });
  after(async () => {
    await desk?.close();
    await here?.remove();
  });

  function write(name: string, fields: JsonObject): Promise<void> {
    const sweep = {
      scenarios: [
        { id: 'calm', input: { order: 1 } },
        { id: 'angry', input: { order: 2 } },
      ],
      driver: { script: ['Where is order {order}?', 'And now?'] },
      ...fields,
    };
    return writeFile(join(here.folder, name), JSON.stringify(sweep));
  }

  const tryOut = (...args: readonly string[]) =>
    here.regatta(['target', 'test', ...args], { DESK_KEY: 'sesame-open', DESK_URL: desk.url });

  it('shows each call, what came back and what was read out of it', async () => {
    const { exitCode, out, err } = await tryOut('http.json');
    assert.deepEqual({ exitCode, err }, { exitCode: exitCodes.done, err: '' });
    assert.equal(
      out.replace(/ in [\d.]+ m?s/g, ' in 1 ms').replaceAll(desk.url, 'http://desk'),
      `http target, scenario calm

1. start the session
   POST http://desk/login
   content-type: application/json
   {"key":"\${DESK_KEY}"}
   -> 200 in 1 ms
   {"token":"{access_token}"}
   POST http://desk/sessions
   authorization: Bearer {access_token}
   x-api-key: ***
   -> 200 in 1 ms
   {"id":"s-1"}
   session id (response.id): s-1

2. say: Where is order 1?
   POST http://desk/chat
   idempotency-key: dry-run/calm/1/1/1
   content-type: application/json
   {"message":"Where is order 1?","session":"s-1"}
   -> 200 in 1 ms
   {"data":{"text":"You said Where is order 1?","calls":[{"name":"find","args":{"order":1}}]}}
   reply (response.data.text): You said Where is order 1?
   tool call (response.data.calls): find({"order":1})

3. end the session
   POST http://desk/end
   content-type: application/json
   {"session":"s-1"}
   -> 200 in 1 ms
   {}

The target answers as the file says.
`,
    );
  });

  it('says what it is told to say, braces and all, in the scenario that is named', async () => {
    const { exitCode, out } = await tryOut(
      'http.json',
      '--message',
      'Hi {you}',
      '--message',
      'Bye',
      '--json',
    );
    assert.equal(exitCode, exitCodes.done);
    const { ok, scenario, steps } = JSON.parse(out);
    assert.deepEqual([ok, scenario], [true, 'calm']);
    assert.deepEqual(
      steps.map(({ step, message }: JsonObject) => [step, message]),
      [
        ['start', undefined],
        ['message', 'Hi {you}'],
        ['message', 'Bye'],
        ['end', undefined],
      ],
    );
    const other = await tryOut('http.json', '--scenario', 'angry', '--json');
    assert.equal(JSON.parse(other.out).steps[1].message, 'Where is order 2?');
  });

  it('explains a path that gave nothing by what the answer holds there, and exits 3', async () => {
    const { exitCode, out } = await tryOut(
      'http.json',
      '--set',
      'target.http.send.reply=response.data.reply.text',
      '--set',
      'target.http.send.tool_calls=response.calls',
    );
    assert.equal(exitCode, exitCodes.gateShut);
    assert.match(
      out,
      /\n {3}nothing at response\.data\.reply\.text \(reply\): response\.data holds text, calls\n/,
    );
    assert.match(out, /\n {3}bad_reply: .*answered without response\.data\.reply\.text/);
    assert.match(out, /\n3\. end the session\n/);
    assert.match(out, /The target did not answer as the file says\.\n$/);
  });

  it('shows a stream as it came, and what its chunks came to', async () => {
    const send = {
      url: `${desk.url}/stream`,
      reply: 't',
      session_id: 'id',
      tool_calls: 'calls',
      streaming: {},
    };
    await write('stream.json', { target: { http: { send } } });
    const { exitCode, out } = await tryOut('stream.json');
    assert.equal(exitCode, exitCodes.done);
    assert.match(out, /data: \{"t":"lo"\}/);
    assert.match(out, /session id \(id\): 7\n {3}reply \(t\): Hello\n/);
    assert.match(out, /nothing at calls \(tool_calls\): no chunk of the stream has it/);
  });

  it('says which other paths led nowhere while a reply was read', async () => {
    const { exitCode, out } = await tryOut('http.json', '--set', 'target.http.send.metadata=response.meta');
    assert.equal(exitCode, exitCodes.done);
    assert.match(out, /nothing at response\.meta \(metadata\): response holds data\n/);
    assert.match(out, /The target answers, but 1 path of the file led nowhere\.\n$/);
  });

  it('makes a call that fails once, shows it and still ends the session', async () => {
    const before = desk.calls.length;
    const { exitCode, out } = await tryOut(
      'http.json',
      '--set',
      `target.http.send.url=${desk.url}/broken`,
      '--json',
    );
    assert.equal(exitCode, exitCodes.gateShut);
    const { ok, steps } = JSON.parse(out);
    assert.deepEqual([ok, steps[1].requests[0].status, steps[1].fault.code], [false, 500, 'unavailable']);
    assert.deepEqual(
      desk.calls.slice(before).map(({ path }) => path),
      ['/login', '/sessions', '/broken', '/end'],
    );
  });

  it('tells of a target that is not there', async () => {
    const { exitCode, out } = await tryOut(
      'http.json',
      '--set',
      'target.http.auth.url=http://127.0.0.1:1/login',
    );
    assert.equal(exitCode, exitCodes.gateShut);
    assert.match(out, /POST http:\/\/127\.0\.0\.1:1\/login\n(?:.*\n)*.*-> no whole answer in .*ECONNREFUSED/);
    assert.match(out, /unavailable: .*ECONNREFUSED/);
  });

  it('shows the messages and tool calls of a chat target', async () => {
    await writeFile(
      join(here.folder, 'find.ts'),
      'export default ({ args }: any) => ({ result: { order: args.order, state: "sent" } });\n',
    );
    const tools = { find_order: { schema: { type: 'object' }, module: 'find.ts' } };
    await write('chat.json', {
      models: { gpt: { model: 'gpt', base_url: `\${DESK_URL}/v1`, api_key: `\${DESK_KEY}` } },
      target: { chat: { model: 'gpt', system: 'You are a desk.', tools } },
    });
    const { exitCode, out } = await tryOut('chat.json');
    assert.equal(exitCode, exitCodes.done);
    assert.equal(
      out,
      `chat target, scenario calm

1. ask the model
   system: You are a desk.
   user: Where is order 1?
   tool call: find_order({"order":1})

2. ask the model
   assistant: find_order({"order":1})
   tool: {"order":1,"state":"sent"}
   reply: It is on its way.

The target answers as the file says.
`,
    );
  });

  it('tells of a tool that throws', async () => {
    await writeFile(join(here.folder, 'throw.ts'), 'export default () => { throw new Error("no desk"); };\n');
    const tools = { find_order: { schema: { type: 'object' }, module: 'throw.ts' } };
    await write('throw.json', {
      models: { gpt: { model: 'gpt', base_url: `\${DESK_URL}/v1` } },
      target: { chat: { model: 'gpt', tools } },
    });
    const { exitCode, out } = await tryOut('throw.json');
    assert.equal(exitCode, exitCodes.gateShut);
    assert.match(out, /did not answer as the file says\. .*no desk/);
  });

  it('tries a module, and listens to a target that speaks first', async () => {
    await writeFile(
      join(here.folder, 'desk.ts'),
      'export const reply = ({ messages }: any) => messages.length === 0 ? "Hello." : "Yes.";\n',
    );
    await write('module.json', { target: { module: 'desk.ts' }, conversation: { first: 'target' } });
    const { exitCode, out } = await tryOut('module.json');
    assert.equal(exitCode, exitCodes.done);
    assert.match(out, /listen to the greeting\n {3}reply: Hello\.\n/);
  });

  it('takes the variant that is named, and names the closest for an unknown one', async () => {
    const targets = { old: { script: { replies: ['Old.'] } }, new: { script: { replies: ['New.'] } } };
    await write('variants.json', { targets });
    const { out } = await tryOut('variants.json', '--variant', 'new', '--json');
    assert.deepEqual([JSON.parse(out).variant, JSON.parse(out).steps[0].read.text], ['new', 'New.']);
    const wrong = await tryOut('variants.json', '--variant', 'neww');
    assert.equal(wrong.exitCode, exitCodes.usage);
    assert.match(wrong.err, /there is no target "neww" \(did you mean "new"\?\)/);
  });

  it('wants only the variables that the target refers to', async () => {
    await write('judged.json', {
      models: { judge: { model: 'x', base_url: 'http://127.0.0.1:9/v1', api_key: `\${JUDGE_KEY}` } },
      checks: { polite: { judge: 'judge', rubric: 'It is polite.' } },
      target: { script: { replies: ['Yes.'] } },
    });
    assert.equal((await tryOut('judged.json')).exitCode, exitCodes.done);
    const { exitCode, err } = await here.regatta(['target', 'test', 'http.json']);
    assert.equal(exitCode, exitCodes.usage);
    assert.match(err, /the environment variable DESK_KEY is not set/);
  });
});

it('a path reaches as far as the answer goes', () => {
  const answer = { data: { items: [{ text: 'x' }], note: null } };
  const reach = (path: string) => pathReach(answer, path).path;
  assert.deepEqual(
    ['response.data.items.3.text', 'data.items[0].words', 'nothing', 'response.data.note.x'].map(reach),
    ['response.data.items', 'response.data.items.0', 'response', 'response.data.note'],
  );
});

function httpTarget(url: string): JsonObject {
  return {
    auth: {
      url: `${url}/login`,
      method: 'POST',
      body: { key: `\${DESK_KEY}` },
      access_token: 'response.token',
    },
    start: {
      url: `${url}/sessions`,
      headers: { authorization: 'Bearer {access_token}', 'x-api-key': 'written-in-the-file' },
      session_id: 'response.id',
    },
    send: {
      url: `${url}/chat`,
      body: { message: '{latest_message}', session: '{session_id}' },
      reply: 'response.data.text',
      tool_calls: 'response.data.calls',
    },
    end: { url: `${url}/end`, body: { session: '{session_id}' } },
  };
}
