import type { Attempt } from './attempt.ts';
import { attended } from './attended.ts';
import { createCatalog } from './catalog.ts';
import { closeSession } from './close-session.ts';
import { converse } from './converse.ts';
import type { Dependencies } from './ports.ts';
import { preflight, probeEndpoints } from './preflight.ts';
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
export function createActivities(deps: Dependencies) {
  const catalog = createCatalog(deps.store);
  const { drain } = deps;
  const ofRun =
    <I, O>(work: (attempt: Attempt, input: I) => Promise<O>) =>
    (input: I): Promise<O> =>
      attended(drain, (signals, { info }) => work({ deps, catalog, signals, info }, input));
  return {
    converse: ofRun(converse),
    score: ofRun(score),
    closeSession: ofRun(closeSession),
    openShard: (input: OpenShardInput): Promise<OpenShard> =>
      attended(drain, () => openShard(deps, catalog, input)),
    closeShard: (input: { readonly sweep: string; readonly shard: number }): Promise<void> =>
      attended(drain, () => closeShard(deps, catalog, input)),
    writeReport: (input: WriteReportInput) => attended(drain, () => writeReport(deps, input)),
    preflight: (input: { readonly sweep: string; readonly hash: string }) =>
      attended(drain, () => preflight(deps, catalog, input)),
    probeEndpoints: (input: { readonly sweep: string }) =>
      attended(drain, (signals) => probeEndpoints(deps, catalog, input, signals)),
  };
}
