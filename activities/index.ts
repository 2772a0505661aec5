import type { Attempt } from './attempt.ts';
import { attended } from './attended.ts';
import { closeSession } from './close-session.ts';
import { converse } from './converse.ts';
import { type OpenedStore, openedStores } from './opened-stores.ts';
import type { OnStore, WorkerDependencies } from './ports.ts';
import { type PreflightInput, preflight, probeEndpoints } from './preflight.ts';
import { score } from './score-run.ts';
import {
  closeShard,
  type OpenShard,
  type OpenShardInput,
  openShard,
  type WriteReportInput,
  writeReport,
} from './sweep-io.ts';

/** The activities of a worker, over what they need from outside. */
export function createActivities(deps: WorkerDependencies) {
  const opened = openedStores(deps);
  const inStore = <I extends OnStore, O>(
    input: I,
    work: (place: OpenedStore & Pick<Attempt, 'signals' | 'info'>) => Promise<O>,
  ): Promise<O> => attended(deps, async (signals, { info }) => work({ ...opened(input), signals, info }));
  const ofRun =
    <I, O>(work: (attempt: Attempt, input: I) => Promise<O>) =>
    (input: I & OnStore): Promise<O> =>
      inStore(input, (attempt) => work(attempt, input));
  return {
    converse: ofRun(converse),
    score: ofRun(score),
    closeSession: ofRun(closeSession),
    openShard: (input: OpenShardInput & OnStore): Promise<OpenShard> =>
      inStore(input, (at) => openShard(at.deps, at.catalog, input)),
    closeShard: (input: { readonly sweep: string; readonly shard: number } & OnStore): Promise<void> =>
      inStore(input, (at) => closeShard(at.deps, at.catalog, input)),
    writeReport: (input: WriteReportInput & OnStore) => inStore(input, (at) => writeReport(at.deps, input)),
    preflight: (input: PreflightInput & OnStore) =>
      inStore(input, (at) => preflight(at.deps, at.catalog, input)),
    probeEndpoints: (input: Omit<PreflightInput, 'hash'> & OnStore) =>
      inStore(input, (at) => probeEndpoints(at.deps, at.catalog, input, at.signals)),
  };
}
