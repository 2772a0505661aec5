import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { TargetCall } from '../../../activities/ports.ts';
import type { Blame, FaultCode } from '../../../domain/fault.ts';
import { Fault } from '../../../domain/fault.ts';
import type { HttpSend } from '../../../domain/sweep-spec.ts';
import { aCall, isFault, json, openLoopback, options } from '../target-parts.ts';
import { aSend, openTarget } from './open-target.ts';

type Row = {
  readonly title: string;
  readonly answer: (response: ServerResponse) => void;
  readonly code: FaultCode;
  readonly blame: Blame;
  readonly says?: readonly string[];
  readonly unsure?: boolean;
  readonly send?: Partial<HttpSend>;
  readonly call?: Partial<TargetCall>;
};

const statusRow = (status: number, code: FaultCode, blame: Blame, more: Partial<Row> = {}): Row => ({
  title: `an answer of ${status}`,
  answer: (response) => json(response, { why: 'because' }, status),
  code,
  blame,
  says: [`answered ${status}`, '{"why":"because"}'],
  ...more,
});

const rows: readonly Row[] = [
  statusRow(500, 'unavailable', 'target', { unsure: false }),
  statusRow(503, 'unavailable', 'target', { unsure: false }),
  statusRow(504, 'unavailable', 'target', { unsure: true }),
  statusRow(409, 'bad_reply', 'target', { says: ['answered 409 where a 2xx was expected'] }),
  statusRow(429, 'rate_limited', 'infrastructure'),
  statusRow(400, 'invalid_request', 'configuration'),
  statusRow(405, 'bad_reply', 'target'),
  statusRow(422, 'invalid_request', 'configuration'),
  statusRow(401, 'denied', 'configuration'),
  statusRow(403, 'denied', 'configuration'),
  statusRow(404, 'not_found', 'configuration'),
  statusRow(410, 'bad_reply', 'target'),
  statusRow(404, 'lost_session', 'target', { title: 'a 404 in a session', call: { sessionId: 's' } }),
  statusRow(410, 'lost_session', 'target', { title: 'a 410 in a session', call: { sessionId: 's' } }),
  statusRow(200, 'bad_reply', 'target', { title: 'a 200 where 201 was expected', send: { status: 201 } }),
  {
    title: 'a redirect',
    answer: (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    code: 'bad_reply',
    blame: 'target',
    says: ['302', 'redirects are not followed'],
  },
  {
    title: 'text that is not JSON',
    answer: (response) => response.end('<html>oops</html>'),
    code: 'bad_reply',
    blame: 'target',
    says: ['not JSON', '<html>oops</html>'],
  },
  {
    title: 'an empty body',
    answer: (response) => response.end(),
    code: 'bad_reply',
    blame: 'target',
    says: ['empty'],
  },
  {
    title: 'JSON without the reply',
    answer: (response) => json(response, { txt: 'hi' }),
    code: 'bad_reply',
    blame: 'target',
    says: ['without response.text', '{"txt":"hi"}'],
  },
  {
    title: 'an empty reply',
    answer: (response) => json(response, { text: ' ' }),
    code: 'bad_reply',
    blame: 'target',
    says: ['neither text', 'nor tool calls'],
  },
  {
    title: 'a tool call without a name',
    answer: (response) => json(response, { text: 'x', calls: [{ args: {} }] }),
    send: { toolCalls: 'response.calls' },
    code: 'bad_reply',
    blame: 'target',
    says: ['response.calls'],
  },
  {
    title: 'a message of 300 KB',
    answer: (response) => json(response, { text: 'x'.repeat(300 * 1024) }),
    code: 'too_large',
    blame: 'target',
    says: ['262144'],
  },
  {
    title: 'a body of 9 MB',
    answer: (response) => json(response, { text: 'x'.repeat(9 * 1024 * 1024) }),
    code: 'too_large',
    blame: 'target',
    says: ['8388608'],
  },
  {
    title: 'a socket that drops before the answer',
    answer: (response) => response.destroy(),
    code: 'unavailable',
    blame: 'target',
    unsure: true,
  },
  {
    title: 'a socket that drops half way',
    answer: (response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"text":');
      setImmediate(() => response.destroy());
    },
    code: 'unavailable',
    blame: 'target',
    unsure: true,
  },
];

for (const { title, answer, code, blame, says = [], unsure, send = {}, call = {} } of rows) {
  test(`${title} is ${code}, blame ${blame}`, async (t) => {
    const loopback = await openLoopback((_, response) => answer(response));
    const target = openTarget({ send: aSend(`${loopback.url}/chat?key=hidden`, send) });
    t.after(() => target.close().then(loopback.close));
    const names = [`POST ${loopback.url}/chat`, ...says];
    await assert.rejects(target.reply(aCall(call), options()), (error) => {
      assert.ok(error instanceof Fault && !error.message.includes('hidden'));
      assert.equal(error.endpoint, `${loopback.url}/chat`);
      return isFault(code, blame, names, unsure)(error);
    });
    assert.equal(loopback.received.length, 1);
  });
}

test('an answer that never comes is timed out, of unknown fate', async (t) => {
  const loopback = await openLoopback(() => {});
  const target = openTarget({ send: aSend(loopback.url) });
  t.after(() => target.close().then(loopback.close));
  const reply = target.reply(aCall(), options({ timeoutMs: 50 }));
  await assert.rejects(reply, isFault('timed_out', 'target', ['50 ms'], true));
});

test('the time limit covers the body', async (t) => {
  const loopback = await openLoopback((_, response) => {
    response.writeHead(200).write('{"text":');
  });
  const target = openTarget({ send: aSend(loopback.url) });
  t.after(() => target.close().then(loopback.close));
  const reply = target.reply(aCall(), options({ timeoutMs: 50 }));
  await assert.rejects(reply, isFault('timed_out', 'target', [], true));
});

test('a caller that gives up gets its own reason', async (t) => {
  const caller = new AbortController();
  const reason = new Error('cancelled');
  const loopback = await openLoopback(() => caller.abort(reason));
  const target = openTarget({ send: aSend(loopback.url) });
  t.after(() => target.close().then(loopback.close));
  await assert.rejects(
    target.reply(aCall(), options({ signal: caller.signal })),
    (error) => error === reason,
  );
});

test('a port that nobody listens on is infrastructure, and nothing was sent', async (t) => {
  const loopback = await openLoopback(() => {});
  loopback.close();
  const target = openTarget({ send: aSend(loopback.url) });
  t.after(() => target.close());
  await assert.rejects(
    target.reply(aCall(), options()),
    isFault('unavailable', 'infrastructure', ['ECONNREFUSED'], false),
  );
});

test('a name that does not exist is infrastructure', async (t) => {
  const target = openTarget({ send: aSend('http://no-such-host.invalid/') });
  t.after(() => target.close());
  await assert.rejects(target.reply(aCall(), options()), isFault('unavailable', 'infrastructure', [], false));
});

test('an answer that is not HTTP is a bad reply', async (t) => {
  const server = createServer((socket) => socket.end('garbage\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const target = openTarget({ send: aSend(`http://127.0.0.1:${port}/`) });
  t.after(() => target.close().then(() => server.close()));
  await assert.rejects(target.reply(aCall(), options()), isFault('bad_reply', 'target'));
});

test('how long to wait is taken from the answer', async (t) => {
  const loopback = await openLoopback((_, response) =>
    response.writeHead(429, { 'retry-after': '2.5' }).end(),
  );
  const target = openTarget({ send: aSend(loopback.url) });
  t.after(() => target.close().then(loopback.close));
  await assert.rejects(
    target.reply(aCall(), options()),
    (error) => error instanceof Fault && error.retryAfterMs === 2500,
  );
});

test('a secret that the target sends back is not shown', async (t) => {
  const loopback = await openLoopback(({ headers }, response) =>
    json(response, { got: headers.authorization }, 500),
  );
  const send = { headers: { Authorization: 'Bearer ${REGATTA_SECRET_KEY}' } };
  const target = openTarget({ send: aSend(loopback.url, send) });
  t.after(() => target.close().then(loopback.close));
  await assert.rejects(target.reply(aCall(), options()), (error) => {
    assert.ok(error instanceof Error && !error.message.includes('sk-very-secret'));
    return isFault('unavailable', 'target', ['Bearer ${REGATTA_SECRET_KEY}'])(error);
  });
});
