import type { SeenCall } from './seen-call.ts';

/** Calls that named a session after it had been closed. Closing it a second time is none. */
export function callsAfterClose(calls: readonly SeenCall[]): readonly SeenCall[] {
  const closed = new Set<string>();
  return calls.filter(({ door, session }) => {
    if (session === undefined) return false;
    if (door === 'end') closed.add(session);
    return door === 'chat' && closed.has(session);
  });
}

/** Sessions of these that were opened and never closed. */
export function neverClosed(calls: readonly SeenCall[], sessions: Iterable<string>): readonly string[] {
  const closed = new Set(calls.flatMap(({ door, session }) => (door === 'end' ? [session] : [])));
  return [...sessions].filter((session) => !closed.has(session));
}
