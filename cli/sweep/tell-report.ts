import type { Store } from '../../activities/ports.ts';
import { isJsonObject } from '../../domain/json.ts';
import { type ReportFacts, readPlayedRuns, reportOn } from '../../domain/played-sweep.ts';
import type { Report } from '../../domain/report.ts';
import type { PlayedRun } from '../../domain/sample.ts';
import { gateExit } from '../gate-exit.ts';
import { summary } from '../render/summary.ts';
import { type ReportFlags, writeReportFiles } from '../report-files.ts';
import type { Shell } from '../shell.ts';
import { recordOf } from './play.ts';

/** Ends a command that played or watched a sweep: the report on the terminal and in files, the gate as the exit code. */
export async function tellReport(
  shell: Shell,
  store: Store,
  sweep: string,
  flags: ReportFlags,
): Promise<void> {
  const { report, runs } = await readReport(store, sweep);
  shell.exitCode = gateExit(report);
  shell.stderr.write(summary(report, shell, runs));
  await writeReportFiles(shell, flags, report, runs);
}

/** The report on a stored sweep, computed anew from its results, and its runs. Throws `UsageError` where there is no such sweep. */
export async function readReport(
  store: Store,
  sweep: string,
): Promise<{ readonly report: Report; readonly runs: readonly PlayedRun[] }> {
  const record = await recordOf(store, sweep);
  const runs = await readPlayedRuns(store, record);
  return { report: reportOn(record, runs, await factsOf(store, sweep)), runs };
}

/** What the results do not tell: it was written when the workflow ended. */
async function factsOf(store: Store, sweep: string): Promise<ReportFacts> {
  const written = await store.readReport(sweep);
  if (!isJsonObject(written)) return { probeCalls: 0, cancelled: false };
  const report = written as unknown as Report;
  return {
    probeCalls: report.usage.probe_calls,
    cancelled: report.cancelled,
    ...(report.halted === null ? {} : { halt: report.halted }),
  };
}
