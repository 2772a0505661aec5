import type { Report } from '../../domain/report.ts';

/** The command that goes on with what a sweep left undone; undefined where nothing is left. */
export function nextCommand(report: Pick<Report, 'sweep' | 'halted' | 'runs'>): string | undefined {
  const { sweep, halted, runs } = report;
  if (halted?.reason === 'budget') return `regatta resume ${sweep} --budget USD`;
  if (runs.broken + runs.cancelled > 0) return `regatta retry ${sweep}`;
  if (runs.unplayed > 0) return `regatta resume ${sweep}`;
  return runs.undecided > 0 ? `regatta rejudge ${sweep}` : undefined;
}
