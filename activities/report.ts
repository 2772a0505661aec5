import { Fault } from '../domain/fault.ts';
import { type ReportFacts, readPlayedRuns, reportOn } from '../domain/played-sweep.ts';
import type { Report } from '../domain/report.ts';
import type { Store } from './ports.ts';

/** The report on a sweep as its store stands now. */
export async function sweepReport(
  store: Store,
  facts: ReportFacts & { readonly sweep: string },
): Promise<Report> {
  const record = await store.readSweep(facts.sweep);
  if (record === undefined) {
    throw new Fault('not_found', `the store ${store.address} has no sweep ${facts.sweep}`, {
      blame: 'configuration',
    });
  }
  return reportOn(record, await readPlayedRuns(store, record), facts);
}
