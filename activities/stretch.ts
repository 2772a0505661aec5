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
  /** Makes events durable, then true. */
  record(...events: readonly NewEvent[]): Promise<void>;
  callOptions(idempotencyKey?: string): CallOptions;
  /** Leaves a note that nothing is in flight, and makes all of it durable against a crash of the machine. */
  release(): Promise<void>;
};

export type StretchParts = Pick<Stretch, 'deps' | 'plan' | 'input' | 'signals'> & {
  readonly journal: JournalWriter;
};

/** Opens a stretch over an open journal. */
export function openStretch({ journal, ...parts }: StretchParts): Stretch {
  const { deps, plan, input, signals } = parts;
  const { clock } = deps;
  const openedAt = clock.now();
  const { folded } = journal;
  const events: JournalEvent[] = [
    ...folded.events,
    { kind: 'resumed', at: openedAt, accepts: folded.accepts },
  ];
  let conversation = foldConversation(events);
  const order = events[0]?.at ?? openedAt;

  async function record(...fresh: readonly NewEvent[]): Promise<void> {
    const at = clock.now();
    const stamped = fresh.map((event): JournalEvent => ({ ...event, at }));
    await journal.append(stamped);
    events.push(...stamped);
    conversation = stamped.reduce(applyEvent, conversation);
  }

  return {
    ...parts,
    deadline: openedAt + input.stretchMs,
    now: () => conversation,
    folded: () => ({ ...folded, events, writers: folded.writers + 1 }),
    record,
    callOptions: (idempotencyKey) => ({
      signal: signals.abort,
      timeoutMs: plan.sweep.spec.timeouts.callMs,
      order,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    }),
    async release() {
      await record({ kind: 'released' });
      await journal.flush();
    },
  };
}
