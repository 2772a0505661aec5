import { randomUUID } from 'node:crypto';

// A target in TypeScript: no server, no port. Sessions live in this module's memory.

type Scenario = { readonly id: string; readonly input: unknown };
type Message = { readonly role: 'user' | 'assistant'; readonly content: string };
type Turn = {
  readonly messages: readonly Message[];
  readonly scenario: Scenario;
  readonly sessionId: string;
  readonly key: string;
};

const sessions = new Map<string, { ticket?: string }>();

/** Opens a session and greets. */
export function start(_scenario: Scenario): { readonly sessionId: string } {
  const sessionId = randomUUID();
  sessions.set(sessionId, {});
  return { sessionId };
}

/** Answers the last message. */
export function reply({ messages, sessionId }: Turn): {
  readonly text: string;
  readonly toolCalls?: readonly object[];
} {
  const session = sessions.get(sessionId) ?? {};
  const said = messages.at(-1)?.content ?? '';
  if (/\bthank/i.test(said)) return { text: 'You are welcome.' };
  const ticket = session.ticket ?? /\b[A-Z]-\d+\b/.exec(said)?.[0];
  if (ticket === undefined) return { text: 'Hello. What is your ticket number?' };
  if (session.ticket !== undefined) return { text: `Ticket ${ticket} is solved: your account is unlocked.` };
  sessions.set(sessionId, { ticket });
  return {
    text: `I have ticket ${ticket}. Shall I unlock the account?`,
    toolCalls: [{ name: 'find_ticket', args: { ticket } }],
  };
}

/** Forgets a session. */
export function end(sessionId: string): void {
  sessions.delete(sessionId);
}
