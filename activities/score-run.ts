import { type Attempt, withStretch } from './attempt.ts';
import type { ConverseInput, ScoreEnd } from './run-work.ts';
import { scoreRun } from './score.ts';
import { endOfWait, scoringOf } from './scoring.ts';
import { settle } from './settling.ts';

/** Asks the checks of a conversation that is over, and settles the run unless its session must still be closed. */
export function score(attempt: Attempt, input: ConverseInput): Promise<ScoreEnd> {
  return withStretch(attempt, input, async (stretch): Promise<ScoreEnd> => {
    const scored = await scoreRun(scoringOf(stretch), stretch.deps);
    if ('waitMs' in scored) return endOfWait(scored.waitMs);
    if (stretch.now().session.open) return { kind: 'scored' };
    return { kind: 'settled', summary: await settle(stretch, { cancelled: false }) };
  });
}
