import type { Command } from 'commander';
import { addConnectionFlags } from '../connection.ts';
import { addText, decimalNumber } from '../flag-values.ts';
import { addExamples } from '../help.ts';
import { addReportFlags, proveReportFlags, type ReportFlags } from '../report-files.ts';
import type { Shell } from '../shell.ts';
import { addStoreFlag, type PlayFlags, positiveNumber } from '../sweep/sweep-flags.ts';

type Flags = PlayFlags & ReportFlags & { readonly sweep: string };

/** `regatta evaluate FILE --sweep SWEEP.yaml`: scores conversations that were held elsewhere; plays none. */
export function registerEvaluate(program: Command, shell: Shell): void {
  const command = program
    .command('evaluate <file>')
    .description("Scores transcripts from elsewhere with a sweep's checks; plays nothing.")
    .requiredOption('--sweep <file>', 'the sweep file whose checks and thresholds are meant')
    .option('--id <id>', 'id of the new sweep; the same id again attaches to it')
    .option('--set <path=value>', 'change a value of the sweep file; repeatable', addText)
    .option('--judge-model <name>', 'an entry of models that answers every judge')
    .option('--concurrency <n>', 'how many runs are scored at once', positiveNumber)
    .option('--budget <usd>', 'what the judges may cost (budget_usd)', decimalNumber)
    .option('--bulk', 'score runs inside their shard (default above 500 runs)')
    .option('--no-bulk', 'score each run in a workflow of its own')
    .option('--project <folder>', 'folder that modules come from')
    .option('--queue <name>', 'task queue that the fleet polls')
    .option('--allow-host <host>', 'models may be only at these hosts; repeatable', addText)
    .option('--ui', "serve Temporal's own web page too")
    .action((file: string, flags: Flags) => evaluate(shell, file, flags));
  addReportFlags(addConnectionFlags(addStoreFlag(command)));
  addExamples(command, [
    'evaluate chats.jsonl --sweep sweep.yaml',
    'evaluate chats.jsonl --sweep sweep.yaml --judge-model large --json',
    'evaluate prod.jsonl --sweep sweep.yaml --id "$CI_JOB_ID" --junit out.xml',
  ]);
}

async function evaluate(shell: Shell, file: string, flags: Flags): Promise<void> {
  proveReportFlags(shell, flags);
  const [
    { namesTemporal },
    { readSweep },
    { readTranscripts },
    { planEvaluation },
    { proveEnvironment },
    { writeJournals },
    { countOf },
    { playSweep, storeOf },
    { storeSweep },
    { tellReport },
  ] = await Promise.all([
    import('../connection.ts'),
    import('../sweep/read-sweep.ts'),
    import('../evaluate/read-transcripts.ts'),
    import('../evaluate/plan-evaluation.ts'),
    import('../sweep/plan-sweep.ts'),
    import('../evaluate/write-journals.ts'),
    import('../render/numbers.ts'),
    import('../sweep/play.ts'),
    import('../sweep/launch.ts'),
    import('../sweep/tell-report.ts'),
  ]);
  const read = await readSweep(shell, flags.sweep, flags);
  const held = await readTranscripts(shell, file, read.scenarios);
  const named = namesTemporal(flags, shell.env);
  const planned = await planEvaluation(shell, read, held, { file, flags, named });
  const { plan, conversations } = planned;
  const scenarios = countOf(plan.scenarios, 'scenario');
  shell.stderr.write(`${countOf(held.length, 'conversation')} of ${scenarios}; nothing is played\n`);
  for (const what of planned.leftOut)
    shell.stderr.write(`warning: left out, as transcripts do not tell it: ${what}\n`);
  if (!named) proveEnvironment(shell, planned.record);
  const { store, address } = storeOf(shell, flags);
  const { record } = await storeSweep(store, planned.record, plan.shards);
  shell.stderr.write(`sweep ${record.id}\n`);
  const runs = plan.shards.flatMap((shard) => shard.runs);
  await writeJournals(store, runs, conversations, { at: shell.now(), version: record.created.regatta });
  await playSweep(shell, { record, store, storeAddress: address, flags, how: 'once' });
  await tellReport(shell, store, record.id, flags);
}
