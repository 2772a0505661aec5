import { type Catalog, createCatalog } from './catalog.ts';
import type { Dependencies, OnStore, WorkerDependencies } from './ports.ts';

/** What the activities of a sweep work with: the store that it is in, and the plans there. */
export type OpenedStore = { readonly deps: Dependencies; readonly catalog: Catalog };

/** Stores that a worker keeps open: more than it plays sweeps of at once. */
const keptOpen = 16;

/** Opens stores as sweeps name them, each once; the one that was used longest ago makes room. Throws as `openStore`. */
export function openedStores(deps: WorkerDependencies): (input: OnStore) => OpenedStore {
  const opened = new Map<OnStore['store'], OpenedStore>();

  function open(address: OnStore['store']): OpenedStore {
    const store = deps.openStore(address);
    return { deps: { ...deps, store }, catalog: createCatalog(store) };
  }

  return ({ store }) => {
    const found = opened.get(store) ?? open(store);
    opened.delete(store);
    opened.set(store, found);
    if (opened.size > keptOpen) opened.delete(opened.keys().next().value);
    return found;
  };
}
