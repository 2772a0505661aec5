import type { Report } from '../domain/report.ts';

function sorted(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The report as JSON, the same text for the same report: keys keep their order, counted codes are sorted. */
export function formatReportJson(report: Report): string {
  const { faults, retries, endings, driver_reasons: reasons } = report;
  const stable = {
    ...report,
    faults: sorted(faults),
    retries: sorted(retries),
    endings: sorted(endings),
    driver_reasons: sorted(reasons),
  };
  return `${JSON.stringify(stable, null, 2)}\n`;
}
