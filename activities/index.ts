import { attended } from './attended.ts';
import { createCatalog } from './catalog.ts';
import { closeSession } from './close-session.ts';
import { converse } from './converse.ts';
import type { Dependencies } from './ports.ts';
import { preflight, probeEndpoints } from './preflight.ts';
import type { CloseInput, ConverseInput, RunSummary, ScoreEnd, StretchEnd } from './run-work.ts';
import { score } from './score-run.ts';
import { closeShard, type OpenShard, type OpenShardInput, openShard, type WriteReportInput, writeReport } from './sweep-io.ts';

/** The activities of a worker, over what they need from outside. */
export function createActivities(deps: Dependencies) {
  const catalog = createCatalog(deps.store);
  const { drain } = deps;
  return {
    converse: (input: ConverseInput): Promise<StretchEnd> =>
      attended(drain, (signals, context) => converse(deps, catalog, input, signals, context)),
    score: (input: ConverseInput): Promise<ScoreEnd> =>
      attended(drain, (signals, context) => score(deps, catalog, input, signals, context)),
    closeSession: (input: CloseInput): Promise<RunSummary> =>
      attended(drain, (signals, context) => closeSession(deps, catalog, input, signals, context)),
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
