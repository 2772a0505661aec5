import type { SweepProgress } from '../workflows/messages.ts';
import type { FoundSweep, Poller, QueueSource } from './queue-source.ts';

export type SweepReading = { readonly sweep: string; readonly progress: SweepProgress };

/** How the sweeps of a queue stand, and how many of its tasks wait, by their type. */
export type QueueReading = {
  readonly sweeps: readonly SweepReading[];
  readonly backlog: Readonly<Record<string, number>>;
};

export type SweepWatchOptions = {
  readonly source: QueueSource;
  /** How this worker names itself to Temporal. */
  readonly identity: string;
  /** Told after each look; undefined: others tell, or nothing is known. */
  readonly show: (reading: QueueReading | undefined) => void;
  readonly onFailure: (error: unknown) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** How many workers of a fleet ask: one, and one more in case that one is gone. */
const watchers = 2;
/** A poll lasts up to a minute, so whoever has not asked for work since then is gone. */
const pollerGoneSeconds = 75;
/** How long the last numbers of an ended sweep are shown: several scrapes, and an alert's patience. */
const shownAfterEndMs = 5 * 60_000;
/** Older numbers are worse than none. */
const staleMs = 60_000;

type Remembered = SweepReading & { readonly at: number; readonly final: boolean };

/**
 * Looks at a queue's sweeps, unless enough others do. A sweep that does not answer keeps its last reading for a
 * minute; one that has ended is asked once more and never again.
 */
export function sweepLookout(options: SweepWatchOptions): { look(): Promise<void> } {
  const { source, identity, show, onFailure, now } = options;
  let remembered: ReadonlyMap<string, Remembered> = new Map();
  let shownAt = Number.NEGATIVE_INFINITY;

  async function ask(found: FoundSweep): Promise<Remembered | undefined> {
    const before = remembered.get(found.execution);
    if (before?.final === true) return before;
    try {
      const told = await source.progress(found);
      // One that was terminated still tells what it did last.
      const progress = found.isRunning ? told : { ...told, state: 'ended' as const };
      return { sweep: found.sweep, progress, at: now(), final: !found.isRunning };
    } catch (error) {
      onFailure(error);
      return before !== undefined && now() - before.at < staleMs ? before : undefined;
    }
  }

  async function read(): Promise<QueueReading | undefined> {
    const { pollers, backlog } = await source.describe();
    if (!isWatcher(pollers, identity)) return undefined;
    const found = latestOfEach(await source.listSweeps(now() - shownAfterEndMs));
    const readings = new Map<string, Remembered>();
    await Promise.all(
      found.map(async (each) => {
        const reading = await ask(each);
        if (reading !== undefined) readings.set(each.execution, reading);
      }),
    );
    remembered = readings;
    return { backlog, sweeps: found.flatMap(({ execution }) => readings.get(execution) ?? []) };
  }

  return {
    async look() {
      try {
        show(await read());
        shownAt = now();
      } catch (error) {
        onFailure(error);
        if (now() - shownAt >= staleMs) show(undefined);
      }
    },
  };
}

/** Whether this worker is one of the first by name of those that still take workflow tasks. */
function isWatcher(pollers: readonly Poller[], identity: string): boolean {
  const newest = Math.max(...pollers.map(({ seenAt }) => seenAt));
  return pollers
    .filter(({ seenAt }) => newest - seenAt < pollerGoneSeconds)
    .map((poller) => poller.identity)
    .sort()
    .slice(0, watchers)
    .includes(identity);
}

/** A sweep that was resumed has several executions: the one that runs counts, else the first of the list. */
function latestOfEach(found: readonly FoundSweep[]): readonly FoundSweep[] {
  const seen = new Set<string>();
  return found.filter(({ sweep }) => !seen.has(sweep) && seen.add(sweep));
}

const firstLookMs = 2_000;
const lookEveryMs = 15_000;

/** Looks every 15 s until `signal` is aborted. `sleep` rejects then. */
export async function watchSweeps(
  options: SweepWatchOptions,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { look } = sweepLookout(options);
  const pause = (ms: number) => sleep(ms, signal).catch(() => {});
  // By then the server knows who polls.
  await pause(firstLookMs);
  while (!signal.aborted) {
    await look();
    await pause(lookEveryMs);
  }
  // A worker that drains may still be read for minutes.
  options.show(undefined);
}
