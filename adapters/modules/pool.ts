import { Fault } from '../../domain/fault.ts';
import type { ModuleRef } from '../../domain/sweep-spec.ts';
import { openThread, type Thread, type ThreadOptions } from './thread-host.ts';

/** The threads of a project. */
export type Pool = {
  /**
   * The least busy thread that has this content of the module, or none of it yet: then `prove` is asked first.
   * With a seat, that thread or a `Fault` lost_session. Give it back when the call has ended.
   */
  take(module: ModuleRef, seat: number | undefined, prove: () => Promise<void>): Promise<Thread>;
  giveBack(thread: Thread): void;
  close(): Promise<void>;
};

/** A pool that starts threads when they are needed, `size` at most while all of them answer. */
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
  const leastBusy = (): Thread => {
    threads = threads.filter((thread) => !thread.isGone());
    const active = threads.filter((thread) => !thread.isRetired && !thread.isSuspect());
    const [best] = active.toSorted((a, b) => a.load - b.load);
    return best === undefined || (best.load > 0 && active.length < size) ? open() : best;
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
    take: async ({ file, sha256 }, seat, prove) => {
      const isStale = (thread: Thread) => (thread.loaded.get(file) ?? sha256) !== sha256;
      if (threads.some((thread) => !thread.isRetired && isStale(thread))) {
        // The project was changed. A thread cannot forget a module: new ones take its place.
        await prove();
        retire(threads.filter(isStale));
      }
      const thread = seat === undefined ? leastBusy() : seated(threads, seat, file);
      thread.load += 1;
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
