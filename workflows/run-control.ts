import { CancellationScope, CancelledFailure, condition, isCancellation } from '@temporalio/workflow';

/** What pauses runs: their activities are asked to return after the message in flight, and no next one starts. */
export type RunControl = {
  /** Resolves when runs may play; throws where the run is cancelled. */
  unpaused(): Promise<void>;
  /** The activity's answer, also where it was asked to stop; undefined where it had not begun. Throws where the run is cancelled. */
  stoppable<T>(activity: () => Promise<T>): Promise<T | undefined>;
  setPaused(paused: boolean): void;
};

/** A control for all the runs that one workflow plays. */
export function createRunControl(startsPaused: boolean): RunControl {
  let paused = startsPaused;
  const playing = new Set<CancellationScope>();
  return {
    async unpaused() {
      throwIfCancelled();
      if (paused) await condition(() => !paused);
    },
    async stoppable(activity) {
      const scope = new CancellationScope();
      playing.add(scope);
      try {
        return await scope.run(activity);
      } catch (error) {
        if (isCancellation(error) && !CancellationScope.current().consideredCancelled) return undefined;
        throw error;
      } finally {
        playing.delete(scope);
      }
    },
    setPaused(wanted) {
      paused = wanted;
      if (paused) for (const scope of playing) scope.cancel();
    },
  };
}

function throwIfCancelled(): void {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the run was cancelled');
}
