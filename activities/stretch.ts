import { applyEvent, type Conversation, foldConversation } from '../domain/conversation.ts';
import type { FoldedJournal, JournalEvent } from '../domain/journal.ts';
import type { PlannedRun } from './catalog.ts';
import type { CallOptions, Dependencies, JournalWriter } from './ports.ts';
import type { ConverseInput } from './run-work.ts';

/** Distributes over the kinds of an event. */
type Unstamped<T> = T extends unknown ? Omit<T, 'at'> : never;
export type NewEvent = Unstamped<JournalEvent>;

/** How an activity is told to stop. */
export type Signals = {
  /** Ends it now: its attempt no longer counts, or the worker goes. */
  readonly abort: AbortSignal;
  /** Asks it to return after the message in flight: a pause, a cancelled run, a draining worker. */
  readonly stop: AbortSignal;
};

/** One activity's hold on one run: its plan, its journal, where the conversation stands. */
export type Stretch = {
  readonly deps: Dependencies;
  readonly plan: PlannedRun;
  readonly input: ConverseInput;
  readonly signals: Signals;
  /** Epoch milliseconds at which it reports back. */
  readonly deadline: number;
  /** Where the conversation stands. */
  now(): Conversation;
  /** The journal with all that this stretch has added. */
  folded(): FoldedJournal;
  /** Whether all that stands in the journal was written by earlier workers. */
  inherited(): boolean;
  /** Makes events durable, then true. */
  record(...events: readonly NewEvent[]): Promise<void>;
  callOptions(idempotencyKey?: string): CallOptions;
  flush(): Promise<void>;
};

/** Opens a stretch over an open journal. */
export function openStretch(
  deps: Dependencies,
  plan: PlannedRun,
  input: ConverseInput,
  signals: Signals,
  journal: JournalWriter,
): Stretch {
  const { events } = journal.folded;
  const added: JournalEvent[] = [];
  let conversation = foldConversation(events);
  const order = events[0]?.at ?? deps.clock.now();
  return {
    deps,
    plan,
    input,
    signals,
    deadline: deps.clock.now() + input.stretchMs,
    now: () => conversation,
    folded: () => ({ ...journal.folded, events: [...events, ...added], writers: journal.folded.writers + 1 }),
    inherited: () => added.length === 0 && events.length > 0,
    async record(...fresh) {
      const at = deps.clock.now();
      const stamped = fresh.map((event) => ({ ...event, at }) as JournalEvent);
      await journal.append(stamped);
      added.push(...stamped);
      conversation = stamped.reduce(applyEvent, conversation);
    },
    callOptions: (idempotencyKey) => ({
      signal: signals.abort,
      timeoutMs: plan.sweep.spec.timeouts.callMs,
      order,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }),
    flush: () => journal.flush(),
  };
}
