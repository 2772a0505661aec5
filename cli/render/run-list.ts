import type { PlayedRun } from '../../domain/sample.ts';
import { failureOf, outcomeOfRun } from '../../domain/scenario-row.ts';
import { totalUsage } from '../../domain/usage.ts';
import { causeText } from './cause.ts';
import { duration, money } from './numbers.ts';
import { createStyle, paintWord } from './style.ts';
import { table } from './table.ts';

/** The runs of a sweep, a line each. */
export function formatRunList(
  runs: readonly PlayedRun[],
  place: { readonly columns: number; readonly hasColour: boolean },
): string {
  const style = createStyle(place);
  const right = { align: 'right' } as const;
  const shape = [
    { paint: (text: string) => paintWord(style, text) },
    { head: 'run', widest: 40 },
    { head: 'turns', ...right },
    { head: 'time', ...right },
    { head: 'cost', ...right },
    { head: 'cause' },
  ];
  const rows = runs.map((run) => {
    const { plan, result } = run;
    const failure = failureOf(run);
    return [
      outcomeOfRun(run),
      plan.id.slice(plan.id.indexOf('/') + 1),
      result?.turns ?? '',
      result === undefined ? '' : duration(result.playMs),
      result === undefined ? '' : money(totalUsage(result.usage).costUsd),
      failure === undefined ? '' : causeText(failure),
    ];
  });
  return table(shape, rows, { columns: place.columns, indent: 0 })
    .map((line) => `${line}\n`)
    .join('');
}
