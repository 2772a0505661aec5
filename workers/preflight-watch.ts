import type { Dependencies, SweepRecord } from '../activities/ports.ts';

export type WatchedDependencies = {
  readonly deps: Dependencies;
  /** What the last preflight on this worker found missing. */
  readonly lack: () => string | undefined;
};

/**
 * Sees what preflights find missing, by what they ask of a worker's dependencies: each begins with a probe of the
 * store, and a sweep that the store does not know belongs to another one. `onSweep` is told of each plan that is read.
 */
export function watchPreflight(
  deps: Dependencies,
  onSweep: (record: SweepRecord) => void,
): WatchedDependencies {
  let lack: string | undefined;
  const note = (error: unknown): never => {
    lack = error instanceof Error ? error.message : String(error);
    throw error;
  };
  const store: Dependencies['store'] = {
    ...deps.store,
    probe() {
      lack = undefined;
      return deps.store.probe().catch(note);
    },
    async readSweep(sweep) {
      const record = await deps.store.readSweep(sweep);
      if (record === undefined) lack = `the store ${deps.store.address} has no sweep ${sweep}`;
      else onSweep(record);
      return record;
    },
  };
  const modules: Dependencies['modules'] = {
    ...deps.modules,
    prove: (module) => deps.modules.prove(module).catch(note),
  };
  const proveEnv: Dependencies['proveEnv'] = (names) => {
    try {
      deps.proveEnv(names);
    } catch (error) {
      note(error);
    }
  };
  return { lack: () => lack, deps: { ...deps, store, modules, proveEnv } };
}
