import type { Worker } from 'node:worker_threads';

/** Looks at a thread's memory while it works. */
export type MemoryWatch = { start(): void; stop(): void };

const everyMs = 50;
const bytesPerMb = 1024 * 1024;

/**
 * The heap limit to give to V8 for `memoryMb` of live data: V8 lets garbage lie up to half way between what is alive
 * and its limit, so that a thread at 1.5 x `memoryMb` holds at least that much alive. At its own limit V8 may take down
 * the whole process where memory grows in large steps; hence the distance between the two.
 */
export function hardLimitMb(memoryMb: number): number {
  return 2 * memoryMb;
}

/** Calls `onOver` once when heap and buffers of a worker show that it holds more than `memoryMb` alive. */
export function watchMemory(worker: Worker, memoryMb: number, onOver: () => void): MemoryWatch {
  const limitBytes = 1.5 * memoryMb * bytesPerMb;
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;

  const look = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    const used = await usedBytes(worker);
    isAsking = false;
    if (timer === undefined || used <= limitBytes) return;
    stop();
    onOver();
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    start: () => {
      timer ??= setInterval(look, everyMs).unref();
    },
    stop,
  };
}

async function usedBytes(worker: Worker): Promise<number> {
  try {
    const { used_heap_size, external_memory } = await worker.getHeapStatistics();
    return used_heap_size + external_memory;
  } catch {
    // Not running yet, or not any more: its end is told by other events.
    return 0;
  }
}
