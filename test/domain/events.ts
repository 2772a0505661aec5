import type { CallEvent, JournalEvent } from '../../domain/journal.ts';

/** Distributes over the kinds of an event. */
type Untimed<T> = T extends unknown ? Omit<T, 'at'> : never;
export type Journaled = Untimed<JournalEvent>;

/** Events a second apart, from the first second on. */
export function events(...untimed: readonly Journaled[]): readonly JournalEvent[] {
  return untimed.map((event, index): JournalEvent => ({ ...event, at: 1_000 * (index + 1) }));
}

export function resumed(): Journaled {
  return { kind: 'resumed', accepts: {} };
}

export const released = { kind: 'released' } as const;

export function opened(generation = 1, because?: 'unsure_call' | 'interrupted' | 'lost_session' | 'retry') {
  const facts = { seed: 7, prompts: {}, models: {}, managed: false, version: 'test' };
  return { kind: 'opened', generation, ...facts, ...(because === undefined ? {} : { because }) } as const;
}

export function said(by: 'driver' | 'target', turn: number, more: object = {}) {
  return { kind: 'message', by, turn, text: `${by} ${turn}`, ...more } as const;
}

export function called(role: CallEvent['role'], more: Partial<CallEvent> = {}) {
  const cost = { input_tokens: 10, output_tokens: 5, estimated: false, cost_usd: 0.5 };
  return { kind: 'call', role, turn: 1, model: 'm', ms: 100, ...cost, code: 'ok', ...more } as const;
}

/** A turn with its calls. */
export function turn(number: number) {
  return [called('driver'), said('driver', number), called('target'), said('target', number)] as const;
}
