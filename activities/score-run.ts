import type { Context } from '@temporalio/activity';
import type { Catalog } from './catalog.ts';
import { withStretch } from './converse.ts';
import type { Dependencies } from './ports.ts';
import type { ConverseInput, ScoreEnd } from './run-work.ts';
import { scoreRun } from './score.ts';
import { endOfWait, scoringOf } from './scoring.ts';
import { settle } from './settling.ts';
import type { Signals } from './stretch.ts';

/** Asks the checks of a conversation that is over, and settles the run unless its session must still be closed. */
export function score(
  deps: Dependencies,
  catalog: Catalog,
  input: ConverseInput,
  signals: Signals,
  context: Context,
): Promise<ScoreEnd> {
  return withStretch(deps, catalog, input, signals, context, async (stretch) => {
    const scored = await scoreRun(scoringOf(stretch), deps);
    if ('waitMs' in scored) return endOfWait(scored.waitMs);
    if (stretch.now().session.open) return { kind: 'scored' };
    return { kind: 'settled', summary: await settle(stretch, { cancelled: false }) };
  });
}
