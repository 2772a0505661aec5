import { Fault } from '../../domain/fault.ts';
import type { ModuleRef } from '../../domain/sweep-spec.ts';
import { openThread, type Thread, type ThreadOptions } from './thread-host.ts';

/** The threads of a project. */
export type Pool = {
  /**
   * The least busy thread that has this content of the module, or none of it yet: then `prove` is asked first.
   * With a seat, that thread or a `Fault` lost_session. A call that opens a session gets the thread with the fewest of
   * them: whoever holds a thread holds up its sessions. Give the thread back when the call has ended.
   */
  take(module: ModuleRef, where: Where, prove: () => Promise<void>): Promise<Thread>;
  giveBack(thread: Thread): void;
  close(): Promise<void>;
};

/** Which thread a call may have. */
export type Where = {
  readonly seat?: number;
  /** It may open a session. */
  readonly opens?: boolean;
};

/** For sessions, and in the place of threads that are held, there may be so many times as many. */
const stretchable = 4;

/** A pool that starts threads when they are needed: `size`, and more for sessions and while some are held. */
export function createPool({
  size,
  ...options
}: Omit<ThreadOptions, 'number'> & { readonly size: number }): Pool {
  let threads: readonly Thread[] = [];
  let lastNumber = 0;

  const open = (): Thread => {
    lastNumber += 1;
    const thread = openThread({ number: lastNumber, ...options });
    threads = [...threads, thread];
    return thread;
  };
  const leastBusy = (opens: boolean): Thread => {
    threads = threads.filter((thread) => !thread.isGone());
    const active = threads.filter((thread) => !thread.isRetired && !thread.isSuspect());
    const free = active.filter((thread) => !thread.isHeld());
    const [best] = (free.length === 0 ? active : free).toSorted(
      (a, b) => (opens ? a.sessions - b.sessions : 0) || a.load - b.load,
    );
    if (best === undefined) return open();
    const isCrowded = best.load > 0 && free.length < size;
    const isShared = (opens && best.sessions > 0) || free.length === 0;
    return isCrowded || isShared ? (active.length < stretchable * size ? open() : best) : best;
  };
  const stopIfIdle = (thread: Thread): void => {
    if (thread.isRetired && thread.load === 0) void thread.stop();
  };
  const retire = (stale: readonly Thread[]): void => {
    for (const thread of stale) {
      thread.isRetired = true;
      stopIfIdle(thread);
    }
  };
  const giveBack = (thread: Thread): void => {
    thread.load -= 1;
    stopIfIdle(thread);
  };

  return {
    take: async ({ file, sha256 }, { seat, opens = false }, prove) => {
      const isStale = (thread: Thread) => (thread.loaded.get(file) ?? sha256) !== sha256;
      if (threads.some((thread) => !thread.isRetired && isStale(thread))) {
        // The project was changed. A thread cannot forget a module: new ones take its place.
        await prove();
        retire(threads.filter(isStale));
      }
      const thread = seat === undefined ? leastBusy(opens) : seated(threads, seat, file);
      thread.load += 1;
      // Counted at once: others may come before it has answered.
      if (opens) thread.sessions += 1;
      try {
        if (!thread.loaded.has(file)) await prove();
        thread.loaded.set(file, sha256);
        return thread;
      } catch (error) {
        giveBack(thread);
        throw error;
      }
    },
    giveBack,
    close: async () => {
      await Promise.all(threads.map((thread) => thread.stop()));
      threads = [];
    },
  };
}

function seated(threads: readonly Thread[], seat: number, file: string): Thread {
  const thread = threads.find((candidate) => candidate.number === seat && !candidate.isGone());
  if (thread !== undefined) return thread;
  const message = `the thread of ${file} that held this session is gone`;
  throw new Fault('lost_session', message, { blame: 'target', endpoint: file });
}
