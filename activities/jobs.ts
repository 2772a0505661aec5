/** Resolves to the milliseconds after which it must be done again, or undefined when it is done. */
export type Job = () => Promise<number | undefined>;

/**
 * Runs jobs, `atOnce` at a time. None is begun after one failed or has to wait; those in flight are seen to their end.
 * Resolves to the longest wait, if there is one; throws what the first failed one threw.
 */
export async function runJobs(jobs: readonly Job[], atOnce: number): Promise<number | undefined> {
  const queue = [...jobs];
  const waits: number[] = [];
  const failures: unknown[] = [];
  const work = async () => {
    while (waits.length + failures.length === 0) {
      const job = queue.shift();
      if (job === undefined) return;
      try {
        const waitMs = await job();
        if (waitMs !== undefined) waits.push(waitMs);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
  return waits.length === 0 ? undefined : Math.max(...waits);
}
