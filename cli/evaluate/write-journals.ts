import type { Store } from '../../activities/ports.ts';
import { mapParallel } from '../../adapters/file-store/parallel.ts';
import type { JournalEvent } from '../../domain/journal.ts';
import type { RunPlan } from '../../domain/run.ts';
import type { Conversation } from './read-transcripts.ts';

const runsAtOnce = 16;

/**
 * Writes the journals of runs whose conversations were held elsewhere, as if they had been played and not yet scored;
 * those that are written already stay. `at`: epoch milliseconds.
 */
export async function writeJournals(
  store: Store,
  runs: readonly RunPlan[],
  conversations: ReadonlyMap<string, Conversation>,
  { at, version }: { readonly at: number; readonly version: string },
): Promise<void> {
  await mapParallel(runs, runsAtOnce, async (run) => {
    const held = conversations.get(run.id);
    if (held !== undefined) await writeJournal(store, run, eventsOf(held, run, { at, version }));
  });
}

async function writeJournal(store: Store, run: RunPlan, events: readonly JournalEvent[]): Promise<void> {
  const known = await store.readJournal(run.id);
  if (known.events.some(({ kind }) => kind === 'ended')) return;
  // Before every worker's, however its clock stands; after that of an import that broke off.
  const journal = await store.openJournal(run.id, `0-${known.writers + 1}-import`);
  try {
    await journal.append(events);
    await journal.flush();
  } finally {
    await journal.close();
  }
}

function eventsOf(
  { transcript, system }: Conversation,
  { seed }: RunPlan,
  { at, version }: { readonly at: number; readonly version: string },
): readonly JournalEvent[] {
  const prompts: Record<string, string> = system === undefined ? {} : { target: system };
  return [
    { kind: 'opened', at, generation: 1, seed, prompts, models: {}, managed: false, version },
    ...transcript.map(
      ({ by, turn, text, toolCalls, metadata }): JournalEvent => ({
        ...{ kind: 'message', at, by, turn, text },
        ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
        ...(metadata === undefined ? {} : { metadata }),
      }),
    ),
    { kind: 'ended', at, ending: { kind: 'script_done' } },
    { kind: 'released', at },
  ];
}
