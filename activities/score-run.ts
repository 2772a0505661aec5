import { type Attempt, withStretch } from './attempt.ts';
import type { ConverseInput, ScoreEnd } from './run-work.ts';
import { scoreRun } from './score.ts';
import { endOfWait, scoringOf } from './scoring.ts';
import { settle } from './settling.ts';
import type { Stretch } from './stretch.ts';

/** Asks the checks of a conversation that is over, and settles the run unless its session must still be closed. */
export function score(attempt: Attempt, input: ConverseInput): Promise<ScoreEnd> {
  return withStretch(attempt, input, async (stretch): Promise<ScoreEnd> => {
    if (input.rejudge) await forgetUndecided(stretch);
    const scored = await scoreRun(scoringOf(stretch), stretch.deps);
    if ('waitMs' in scored) return endOfWait(scored.waitMs);
    if (stretch.now().session.open) return { kind: 'scored' };
    return { kind: 'settled', summary: await settle(stretch, { cancelled: false }) };
  });
}

/** What is undecided is forgotten once a generation; a resumed rejudging goes on with the votes that it has. */
async function forgetUndecided(stretch: Stretch): Promise<void> {
  const { generation } = stretch.input;
  const { checks, generation: last } = stretch.now();
  if (last >= generation) return;
  const undecided = checks.filter((result) => result.verdict === 'undecided').map((result) => result.check);
  await stretch.record({ kind: 'rejudged', generation, checks: undecided });
}
