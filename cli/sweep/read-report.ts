import type { Store } from '../../activities/ports.ts';
import { isJsonObject, type Json } from '../../domain/json.ts';
import { type ReportFacts, readPlayedRuns, reportOn } from '../../domain/played-sweep.ts';
import type { Report } from '../../domain/report.ts';
import type { PlayedRun } from '../../domain/sample.ts';
import { findSweep } from './find-sweep.ts';

/**
 * The report on a sweep, computed anew from what its store holds, and the runs that it is about.
 * @throws UsageError where the store has no such sweep.
 */
export async function readReport(
  store: Store,
  sweep: string,
): Promise<{ readonly report: Report; readonly runs: readonly PlayedRun[] }> {
  const record = await findSweep(store, sweep);
  const runs = await readPlayedRuns(store, record);
  return { report: reportOn(record, runs, readFacts(await store.readReport(sweep))), runs };
}

/** What the workflow wrote into its last report and no result tells; before the first one nothing is known. */
export function readFacts(written: Json | undefined): ReportFacts {
  const report = isJsonObject(written) ? written : {};
  const { halted, cancelled, usage } = report;
  return {
    probeCalls: isJsonObject(usage) && typeof usage.probe_calls === 'number' ? usage.probe_calls : 0,
    cancelled: cancelled === true,
    ...(isJsonObject(halted)
      ? { halt: { reason: String(halted.reason), detail: String(halted.detail) } }
      : {}),
  };
}
