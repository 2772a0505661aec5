import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderRequest } from '../../../adapters/http-target/request.ts';
import { createSecrets } from '../../../adapters/secrets.ts';
import { targetVariables } from '../../../adapters/target-variables.ts';
import type { HttpRequestSpec } from '../../../domain/sweep-spec.ts';
import { aCall, aMessage, isFault } from '../target-parts.ts';

const { resolve } = createSecrets({
  env: { REGATTA_SECRET_KEY: 'k{1}', REGATTA_SECRET_BASE: 'http://base.test:81' },
  allowed: ['REGATTA_SECRET_*'],
});

function render(spec: Partial<HttpRequestSpec>, call = aCall(), token?: string) {
  const whole = { method: 'POST', url: 'http://a.test/', headers: {}, ...spec };
  return renderRequest(whole, targetVariables(call, token), resolve);
}

test('values in path and query are percent-encoded', () => {
  const call = aCall({ sessionId: 'a/b ?', latestMessage: 'x&y=1' });
  const { url } = render({ url: 'http://a.test/s/{session_id}/chat?q={latest_message}' }, call);
  assert.equal(url.href, 'http://a.test/s/a%2Fb%20%3F/chat?q=x%26y%3D1');
});

test('a value may be the host, and a secret the whole address', () => {
  const call = aCall({ scenario: { id: 'row', input: { host: 'b.test:8000' }, tags: [], meta: {} } });
  assert.equal(render({ url: 'http://{host}/x' }, call).url.href, 'http://b.test:8000/x');
  const url = '${REGATTA_SECRET_BASE}/x/{turn}';
  assert.equal(render({ url }).url.href, 'http://base.test:81/x/1');
});

test('every variable of the table has its value in a structured body', () => {
  const names = ['input', 'name', 'expected', 'meta', 'latest_message', 'message_history', 'session_id'];
  const more = ['access_token', 'run_id', 'turn', 'repeat', 'seed'];
  const body = Object.fromEntries([...names, ...more].map((name) => [name, `{${name}}`]));
  const call = aCall({
    sessionId: 's',
    scenario: { id: 'row', input: { name: 'Ada' }, expected: ['x'], tags: [], meta: { k: 1 } },
    transcript: [aMessage('target', 'hi', 0), aMessage('driver', 'hello')],
  });
  assert.deepEqual(JSON.parse(render({ body }, call, 'token').body ?? ''), {
    input: { name: 'Ada' },
    name: 'Ada',
    expected: ['x'],
    meta: { k: 1 },
    latest_message: 'hello',
    message_history: [
      { role: 'assistant', content: 'hi' },
      { role: 'user', content: 'hello' },
    ],
    session_id: 's',
    access_token: 'token',
    run_id: 'sweep/row/1',
    turn: 1,
    repeat: 1,
    seed: 7,
  });
});

test('before the first reply a session id leaves no key and no header', () => {
  const { body, headers } = render({
    body: { m: 1, s: '{session_id}' },
    headers: { 'X-Session': '{session_id}' },
  });
  assert.equal(body, '{"m":1}');
  assert.deepEqual(headers, { 'content-type': 'application/json' });
});

test('a body of JSON text is a structure: quotes in a message do not break it', () => {
  const call = aCall({ latestMessage: 'she said "no"\n' });
  const { body, headers } = render({ body: '{"m": "{latest_message}", "t": "{turn}"}' }, call);
  assert.deepEqual(JSON.parse(body ?? ''), { m: 'she said "no"\n', t: 1 });
  assert.equal(headers['content-type'], 'application/json');
});

test('a body of text is sent as text, a form as a form', () => {
  const text = render({ body: 'say {latest_message}' });
  assert.equal(text.body, 'say hello');
  assert.match(text.headers['content-type'] ?? '', /^text\/plain/);
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  assert.equal(render({ headers, body: { q: '{latest_message}&', n: 2 } }).body, 'q=hello%26&n=2');
});

test('a header takes a message with line breaks and any letters as bytes of UTF-8', () => {
  const { headers } = render(
    { headers: { 'X-Message': '{latest_message}' } },
    aCall({ latestMessage: 'ä\r\nb' }),
  );
  assert.equal(Buffer.from(headers['x-message'] ?? '', 'latin1').toString('utf8'), 'ä b');
});

test('a secret is put in once, everywhere, and its braces are not read as a template', () => {
  const { url, headers, body } = render({
    url: 'http://a.test/?key=${REGATTA_SECRET_KEY}',
    headers: { Authorization: 'Bearer ${REGATTA_SECRET_KEY}' },
    body: { key: '${REGATTA_SECRET_KEY}' },
  });
  assert.equal(url.searchParams.get('key'), 'k{1}');
  assert.equal(headers.authorization, 'Bearer k{1}');
  assert.deepEqual(JSON.parse(body ?? ''), { key: 'k{1}' });
});

test('a message that names a secret does not get it', () => {
  const call = aCall({ latestMessage: '${REGATTA_SECRET_KEY}' });
  assert.equal(render({ body: { m: '{latest_message}' } }, call).body, '{"m":"${REGATTA_SECRET_KEY}"}');
});

test('an address that is not http is refused before anything is sent', () => {
  for (const url of ['file:///etc/passwd', 'chat', '{latest_message}']) {
    assert.throws(() => render({ url }), isFault('invalid_request', 'configuration', [url]));
  }
});
