import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTokens } from '../../../adapters/http-target/tokens.ts';
import { aCall, isFault, json, openLoopback, options } from '../target-parts.ts';
import { aRequest, aSend, openTarget } from './open-target.ts';

test('a session is opened, greeted, used, renamed by a reply and closed', async (t) => {
  const loopback = await openLoopback(({ path }, response) => {
    if (path === '/sessions') json(response, { id: 41, hello: [{ type: 'text', text: 'Ahoy' }] });
    else if (path === '/chat') json(response, { text: 'fine', session: 's2' });
    else json(response, {});
  });
  const { url } = loopback;
  const target = openTarget({
    start: aRequest({ url: `${url}/sessions`, sessionId: 'response.id', greeting: 'response.hello' }),
    send: aSend(`${url}/chat`, {
      body: { m: '{latest_message}', s: '{session_id}' },
      sessionId: 'response.session',
    }),
    end: aRequest({ url: `${url}/sessions/{session_id}`, method: 'DELETE' }),
  });
  t.after(() => target.close().then(loopback.close));
  const started = await target.start(aCall(), options());
  assert.equal(started.sessionId, '41');
  assert.equal(started.greeting?.text, 'Ahoy');
  const reply = await target.reply(aCall({ sessionId: '41' }), options());
  assert.deepEqual([reply.text, reply.sessionId], ['fine', 's2']);
  await target.end(aCall({ sessionId: 's2' }), options());
  assert.equal(target.sessions, true);
  assert.deepEqual(
    loopback.received.map(({ method, path, body }) => [method, path, body]),
    [
      ['POST', '/sessions', ''],
      ['POST', '/chat', '{"m":"hello","s":"41"}'],
      ['DELETE', '/sessions/s2', ''],
    ],
  );
});

test('each message carries its idempotency key', async (t) => {
  const loopback = await openLoopback((_, response) => json(response, { text: 'hi' }));
  const target = openTarget({ send: aSend(loopback.url) });
  t.after(() => target.close().then(loopback.close));
  await target.reply(aCall(), options());
  assert.equal(loopback.received[0]?.headers['idempotency-key'], 'sweep/row/1/0/1');
  assert.equal(target.sessions, false);
});

test('a target without start and end has nothing to open and nothing to close', async () => {
  const target = openTarget({ send: aSend('http://127.0.0.1:1/') });
  assert.deepEqual(await target.start(aCall(), options()), { ms: 0 });
  await target.end(aCall(), options());
});

test('closing a session that is gone already is fine', async (t) => {
  const loopback = await openLoopback((_, response) => json(response, {}, 404));
  const target = openTarget({ send: aSend(loopback.url), end: aRequest({ url: `${loopback.url}/end` }) });
  t.after(() => target.close().then(loopback.close));
  await target.end(aCall({ sessionId: 's' }), options());
  assert.equal(loopback.received.length, 1);
});

/** A server with logins: each login gives another token, and only the newest is taken. */
async function openGuarded(valid: (token: string, logins: number) => boolean) {
  let logins = 0;
  return openLoopback(({ path, headers }, response) => {
    if (path === '/login') {
      logins += 1;
      return json(response, { token: `token-${logins}` });
    }
    const token = (headers.authorization ?? '').replace('Bearer ', '');
    return valid(token, logins)
      ? json(response, { text: 'in' })
      : json(response, { error: `bad ${token}` }, 401);
  });
}

function guardedTarget(url: string) {
  return openTarget({
    auth: aRequest({
      url: `${url}/login`,
      body: { key: '${REGATTA_SECRET_KEY}' },
      accessToken: 'response.token',
    }),
    send: aSend(`${url}/chat`, { headers: { Authorization: 'Bearer {access_token}' } }),
  });
}

test('one login serves many calls, also those that begin together', async (t) => {
  const loopback = await openGuarded((token) => token === 'token-1');
  const target = guardedTarget(loopback.url);
  t.after(() => target.close().then(loopback.close));
  await Promise.all([1, 2, 3].map(() => target.reply(aCall(), options())));
  await target.reply(aCall(), options());
  const logins = loopback.received.filter(({ path }) => path === '/login');
  assert.deepEqual(
    logins.map(({ body }) => body),
    ['{"key":"sk-very-secret"}'],
  );
});

test('a token is fetched anew before its time is over', async () => {
  let now = 0;
  let logins = 0;
  const tokens = createTokens(() => now);
  const token = () => tokens.get('login', async () => ({ text: `token-${++logins}`, expiresInMs: 100_000 }));
  const seen: string[] = [];
  for (now of [0, 89_000, 91_000, 100_000]) seen.push(await token());
  assert.deepEqual(seen, ['token-1', 'token-1', 'token-2', 'token-2']);
});

test('a login says at its path how long a token is good for', async (t) => {
  const loopback = await openLoopback(({ path }, response) =>
    json(response, path === '/login' ? { token: 'token-of-a-moment', ttl: 1e-9 } : { text: 'in' }),
  );
  const { url } = loopback;
  const target = openTarget({
    auth: aRequest({ url: `${url}/login`, accessToken: 'response.token', expiresIn: 'response.ttl' }),
    send: aSend(`${url}/chat`),
  });
  t.after(() => target.close().then(loopback.close));
  await target.reply(aCall(), options());
  await target.reply(aCall(), options());
  assert.deepEqual(
    loopback.received.map(({ path }) => path),
    ['/login', '/chat', '/login', '/chat'],
  );
});

test('a token that was refused is fetched anew once', async (t) => {
  const loopback = await openGuarded((token) => token === 'token-2');
  const target = guardedTarget(loopback.url);
  t.after(() => target.close().then(loopback.close));
  assert.equal((await target.reply(aCall(), options())).text, 'in');
  assert.deepEqual(
    loopback.received.map(({ path }) => path),
    ['/login', '/chat', '/login', '/chat'],
  );
});

test('a token that is refused twice is a matter of configuration, and is not shown', async (t) => {
  const loopback = await openGuarded(() => false);
  const target = guardedTarget(loopback.url);
  t.after(() => target.close().then(loopback.close));
  await assert.rejects(target.reply(aCall(), options()), (error) => {
    assert.ok(error instanceof Error && !error.message.includes('token-2'));
    return isFault('denied', 'configuration', ['401', 'bad {access_token}'])(error);
  });
  assert.equal(loopback.received.length, 4);
});

test('a login that fails is not kept', async (t) => {
  let logins = 0;
  const loopback = await openLoopback(({ path }, response) => {
    if (path !== '/login') return json(response, { text: 'in' });
    logins += 1;
    return logins === 1 ? json(response, {}, 503) : json(response, { token: 'good' });
  });
  const target = guardedTarget(loopback.url);
  t.after(() => target.close().then(loopback.close));
  await assert.rejects(target.reply(aCall(), options()), isFault('unavailable', 'target', ['/login'], false));
  assert.equal((await target.reply(aCall(), options())).text, 'in');
});

test('no more requests are open than max_parallel_requests allows', async (t) => {
  let open = 0;
  let most = 0;
  const loopback = await openLoopback((_, response) => {
    open += 1;
    most = Math.max(most, open);
    setImmediate(() => {
      open -= 1;
      json(response, { text: 'hi' });
    });
  });
  const target = openTarget({ send: aSend(loopback.url) }, { limit: 2 });
  t.after(() => target.close().then(loopback.close));
  await Promise.all(Array.from({ length: 8 }, () => target.reply(aCall(), options())));
  assert.equal(most, 2);
});

test('a host that is not allowed is not called', async (t) => {
  const loopback = await openLoopback((_, response) => json(response, { text: 'hi' }));
  const target = openTarget({ send: aSend(loopback.url) }, { hosts: ['api.example.com'] });
  t.after(() => target.close().then(loopback.close));
  await assert.rejects(target.reply(aCall(), options()), isFault('denied', 'configuration', ['127.0.0.1']));
  assert.equal(loopback.received.length, 0);
});

test('a path that the row lacks names the row', async () => {
  const target = openTarget({ send: aSend('http://127.0.0.1:1/', { body: { x: '{input.order.id}' } }) });
  const names = ['scenario row', 'input.order.id'];
  await assert.rejects(target.reply(aCall(), options()), isFault('invalid_request', 'configuration', names));
});
