import type { Store } from '../../activities/ports.ts';
import { checkSetOf, resultNow } from '../../domain/check-set.ts';
import { type Conversation, foldConversation, unopened } from '../../domain/conversation.ts';
import type { CallEvent, FoldedJournal, JournalEvent, Opened } from '../../domain/journal.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { RunResult } from '../../domain/run.ts';
import { settleRun } from '../../domain/settle.ts';
import { type FoundRun, findRun } from './find-sweep.ts';

/** One writer's part of a run's journal. */
export type Attempt = {
  readonly writer: string;
  /** Epoch milliseconds; absent where a later writer ignores all of it. */
  readonly startedAt?: number;
  /** It took over from one that had not returned in order. */
  readonly resumed: boolean;
  /** How many of its events hold. */
  readonly events: number;
};

/** A run as its plan, journal and result tell it. */
export type StoredRun = FoundRun & {
  /** Absent while it is open. */
  readonly outcome?: Outcome;
  /** Its result; while it is open, what it has come to so far. */
  readonly result: RunResult;
  readonly conversation: Conversation;
  readonly opened?: Opened;
  /** Every call that was paid for; those of earlier generations and of ignored parts are wasted. */
  readonly calls: readonly CallEvent[];
  readonly attempts: readonly Attempt[];
};

/**
 * Reads a run from the store; `now` is epoch milliseconds.
 * @throws UsageError with the closest id where its sweep has no such run.
 */
export async function readRun(store: Store, id: string, now: number): Promise<StoredRun> {
  const found = await findRun(store, id);
  const [journal, written] = await Promise.all([store.readJournal(id), store.readResult(id)]);
  const conversation = foldConversation(journal.events);
  const isSettled = written !== undefined && written.generation >= conversation.generation;
  const { run, scenario } = found;
  const generation = conversation.generation;
  const checkSet = checkSetOf(found.record);
  const result = isSettled
    ? resultNow(written, found.record)
    : settleRun({ run, scenario, generation, journal, checkSet, cancelled: false, at: now });
  const opened = journal.events.findLast((event) => event.kind === 'opened');
  return {
    ...found,
    ...(isSettled ? { outcome: result.outcome } : journal.writers === 0 ? { outcome: 'unplayed' } : {}),
    result,
    conversation: generation < result.generation ? unopened : conversation,
    ...(opened === undefined ? {} : { opened }),
    calls: callsOf(journal, result.generation),
    attempts: attemptsOf(journal),
  };
}

function callsOf({ events, ignored }: FoldedJournal, generation: number): readonly CallEvent[] {
  const opened = events.findLastIndex((event) => event.kind === 'opened' && event.generation >= generation);
  const used = (index: number) => opened >= 0 && index > opened;
  return [
    ...events.flatMap((event, index) => callOf(event, !used(index))),
    ...ignored.flatMap((event) => callOf(event, true)),
  ];
}

function callOf(event: JournalEvent, isUnused: boolean): readonly CallEvent[] {
  if (event.kind !== 'call') return [];
  return [isUnused && event.code === 'ok' ? { ...event, wasted: true } : event];
}

function attemptsOf({ events, accepts }: FoldedJournal): readonly Attempt[] {
  let from = 0;
  return Object.entries(accepts).map(([writer, held]) => {
    const first = held === 0 ? undefined : events[from];
    const before = events[from - 1];
    from += held;
    return {
      writer,
      ...(first === undefined ? {} : { startedAt: first.at }),
      resumed: first !== undefined && before !== undefined && before.kind !== 'released',
      events: held,
    };
  });
}
