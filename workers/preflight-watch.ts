import type { Store, SweepRecord, WorkerDependencies } from '../activities/ports.ts';

export type WatchedDependencies = {
  readonly deps: WorkerDependencies;
  /** What the last preflight on this worker found missing. */
  readonly lack: () => string | undefined;
};

/**
 * Sees what preflights find missing, by what they ask of a worker's dependencies: each begins with a probe of the
 * store, and a sweep that the store does not know belongs to another one. `onSweep` is told of each plan that is read.
 */
export function watchPreflight(
  deps: WorkerDependencies,
  onSweep: (record: SweepRecord) => void,
): WatchedDependencies {
  let lack: string | undefined;
  const note = (error: unknown): never => {
    lack = error instanceof Error ? error.message : String(error);
    throw error;
  };
  const watched = (store: Store): Store => ({
    ...store,
    probe() {
      lack = undefined;
      return store.probe().catch(note);
    },
    async readSweep(sweep) {
      const record = await store.readSweep(sweep).catch(note);
      if (record === undefined) lack = `the store ${store.address} has no sweep ${sweep}`;
      else onSweep(record);
      return record;
    },
  });
  const openStore: WorkerDependencies['openStore'] = (address) => {
    try {
      return watched(deps.openStore(address));
    } catch (error) {
      return note(error);
    }
  };
  const modules: WorkerDependencies['modules'] = {
    ...deps.modules,
    prove: (module) => deps.modules.prove(module).catch(note),
  };
  const proveEnv: WorkerDependencies['proveEnv'] = (names) => {
    try {
      deps.proveEnv(names);
    } catch (error) {
      note(error);
    }
  };
  return { lack: () => lack, deps: { ...deps, openStore, modules, proveEnv } };
}
