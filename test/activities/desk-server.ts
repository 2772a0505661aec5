import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { json, type Loopback, openLoopback, type Received } from '../adapters/target-parts.ts';
import { aTarget, request } from './stretch-builders.ts';

/** A target over HTTP with sessions: it numbers the messages of each, so that a message heard twice shows. */
export type Desk = Loopback & {
  /** What each session heard. */
  readonly sessions: ReadonlyMap<string, string[]>;
  /** `METHOD path` of all that came, in order. */
  calls(): readonly string[];
};

/** What a desk does instead of answering; undefined: it answers. `count` counts the calls of this path from 1. */
export type Mood = (call: Received, count: number, response: ServerResponse) => 'done' | undefined;

export async function openDesk(t: TestContext, mood: Mood = () => undefined): Promise<Desk> {
  const sessions = new Map<string, string[]>();
  const counts = new Map<string, number>();
  const loopback = await openLoopback((received, response) => {
    const { path, body } = received;
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    const { session, message } = JSON.parse(body === '' ? '{}' : body);
    const heard = sessions.get(session);
    // It hears a message, also where it then fails to answer.
    if (path === '/chat' && heard !== undefined) heard.push(message);
    if (mood(received, count, response) === 'done') return;
    if (path === '/sessions') {
      const id = `s${sessions.size + 1}`;
      sessions.set(id, []);
      json(response, { id });
    } else if (path === '/chat' && heard === undefined) json(response, { error: 'no such session' }, 404);
    else if (path === '/chat') json(response, { text: `${heard?.length}: ${message}` });
    else if (path === '/stateless') json(response, { text: `heard ${message}` });
    else json(response, {});
  });
  t.after(() => loopback.close());
  return {
    ...loopback,
    sessions,
    calls: () => loopback.received.map(({ method, path }) => `${method} ${path}`),
  };
}

const body = { message: '{latest_message}', session: '{session_id}' };

/** The desk as a target with sessions. */
export function deskTarget(desk: Desk, fields: object = {}) {
  return aTarget(
    {
      kind: 'http',
      start: request(`${desk.url}/sessions`, { sessionId: 'response.id' }),
      send: request(`${desk.url}/chat`, { body, reply: 'response.text' }),
      end: request(`${desk.url}/end`, { body: { session: '{session_id}' } }),
    },
    fields,
  );
}

/** The desk as a target without sessions. */
export function statelessTarget(desk: Desk, fields: object = {}) {
  return aTarget(
    { kind: 'http', send: request(`${desk.url}/stateless`, { body, reply: 'response.text' }) },
    fields,
  );
}
