import type { Context } from '@temporalio/activity';
import type { Catalog } from './catalog.ts';
import { playStretch } from './play.ts';
import type { Dependencies } from './ports.ts';
import type { ConverseInput, StretchEnd } from './run-work.ts';
import { needsScoring, scoreWithoutCalls, settle } from './settling.ts';
import { openStretch, type Signals, type Stretch } from './stretch.ts';
import { writerOf } from './writer.ts';

/**
 * Plays a run on from its journal until the conversation ends, the stretch is spent, a long wait is due, or it is
 * asked to stop. Where the checks need neither model nor user code and no session is open, it also settles the run.
 */
export async function converse(
  deps: Dependencies,
  catalog: Catalog,
  input: ConverseInput,
  signals: Signals,
  context: Context,
): Promise<StretchEnd> {
  return withStretch(deps, catalog, input, signals, context, async (stretch) => {
    deps.meter.runOpened();
    try {
      const left = await playStretch(stretch);
      return left ?? (await afterConversation(stretch));
    } finally {
      deps.meter.runLeft();
    }
  });
}

async function afterConversation(stretch: Stretch): Promise<StretchEnd> {
  const score = needsScoring(stretch);
  const session = stretch.now().session.open;
  if (!score) await scoreWithoutCalls(stretch);
  if (score || session) return { kind: 'over', score, session };
  return { kind: 'settled', summary: await settle(stretch, { cancelled: false }) };
}

/** Opens the run's journal for this attempt, does the work, and leaves a note that nothing was in flight. */
export async function withStretch<T extends { readonly kind: string }>(
  deps: Dependencies,
  catalog: Catalog,
  input: ConverseInput,
  signals: Signals,
  context: Context,
  work: (stretch: Stretch) => Promise<T>,
): Promise<T> {
  const plan = await catalog.run(input);
  const journal = await deps.store.openJournal(input.run, writerOf(context.info, deps.nonce()));
  try {
    const stretch = openStretch(deps, plan, input, signals, journal);
    const end = await work(stretch);
    if (end.kind !== 'settled') {
      await stretch.record({ kind: 'released' });
      await journal.flush();
    }
    return end;
  } finally {
    await journal.close();
  }
}
