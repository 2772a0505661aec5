import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { wordHint } from '../../domain/closest.ts';
import { type Outcome, outcomes } from '../../domain/outcome.ts';
import { addText } from '../flag-values.ts';
import { addExamples } from '../help.ts';
import type { Shell } from '../shell.ts';
import { addStoreFlag, type PlaceFlags } from '../sweep/sweep-flags.ts';

type Flags = PlaceFlags & {
  readonly outcome?: readonly Outcome[];
  readonly out?: string;
  readonly reasons?: true;
};

/** `regatta scenarios failures ID`: the scenarios of a sweep that did not do well, as rows of another one. */
export function registerScenarios(program: Command, shell: Shell): void {
  const scenarios = program.command('scenarios').description("Takes scenarios out of a sweep's results.");
  const command = scenarios
    .command('failures <id>')
    .description('Writes the scenarios with a failed run as JSON lines: a row file of another sweep.')
    .option('--outcome <names>', 'runs to look for; commas, repeatable (default: failed)', outcomeNames)
    .option('--out <file>', 'write them there (default: stdout)')
    .option('--reasons', 'add to their meta what became of their runs')
    .action((id: string, flags: Flags) => failures(shell, id, flags));
  addStoreFlag(command);
  addExamples(command, [
    'scenarios failures refund-desk-20260101-090000-1a2b',
    'scenarios failures ID --outcome failed,undecided --out hard.jsonl',
    'scenarios failures ID --reasons | jq -r .meta.regatta.cause',
  ]);
}

function outcomeNames(text: string, before: readonly string[] | undefined): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (outcomes.some((outcome) => outcome === name)) continue;
    throw new InvalidArgumentError(`There is no outcome "${name}": ${wordHint(name, outcomes)}`);
  }
  return names.reduce<readonly string[]>((all, name) => addText(name, all), before ?? []);
}

async function failures(shell: Shell, id: string, flags: Flags): Promise<void> {
  const [{ storeOf }, { failedRows }, { writeOut }, { countOf }] = await Promise.all([
    import('../sweep/play.ts'),
    import('../scenarios/failed-rows.ts'),
    import('../scenarios/write-out.ts'),
    import('../render/numbers.ts'),
  ]);
  const wanted = flags.outcome ?? ['failed'];
  const { store } = storeOf(shell, flags);
  const { rows, of } = await failedRows(store, id, { wanted, reasons: flags.reasons ?? false });
  await writeOut(shell, flags.out, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  shell.stderr.write(
    `${rows.length} of ${countOf(of, 'scenario')} with a run that is ${wanted.join(' or ')}\n`,
  );
}
