import { checkSetOf, stillAnswers } from '../domain/check-set.ts';
import { type Attempt, withStretch } from './attempt.ts';
import type { ConverseInput, ScoreEnd } from './run-work.ts';
import { scoreRun } from './score.ts';
import { endOfWait, scoringOf } from './scoring.ts';
import { needsScoring, scoreWithoutCalls, settle } from './settling.ts';
import type { Stretch } from './stretch.ts';

/** Asks the checks of a conversation that is over, and settles the run unless its session must still be closed. */
export function score(attempt: Attempt, input: ConverseInput): Promise<ScoreEnd> {
  return withStretch(attempt, input, async (stretch): Promise<ScoreEnd> => {
    if (input.rejudge) await forgetAnswers(stretch);
    if (needsScoring(stretch)) {
      const scored = await scoreRun(scoringOf(stretch), stretch.deps);
      if ('waitMs' in scored) return endOfWait(scored.waitMs);
    } else await scoreWithoutCalls(stretch);
    if (stretch.now().session.open) return { kind: 'scored' };
    return { kind: 'settled', summary: await settle(stretch, { cancelled: false }) };
  });
}

/**
 * Forgets, once a generation, what is undecided and what answers another question than the check set asks now; a
 * resumed rejudging goes on with the votes that it has.
 */
async function forgetAnswers(stretch: Stretch): Promise<void> {
  const { generation, run } = stretch.input;
  const { sweep } = stretch.plan;
  const now = stretch.now();
  if (now.generation >= generation) return;
  const since = (await stretch.deps.store.readResult(run))?.checkSet ?? 0;
  const undecided = now.checks.filter(({ verdict }) => verdict === 'undecided').map(({ check }) => check);
  const said = [...now.checks, ...now.votes, ...Object.values(now.turnChecks).flat()];
  const outdated = said
    .map(({ check }) => check)
    .filter((check) => !stillAnswers(sweep.checkSets ?? [], since, check));
  const checkSet = checkSetOf(sweep);
  await stretch.record({
    ...{ kind: 'rejudged', generation, checks: [...new Set([...undecided, ...outdated])] },
    ...(checkSet === 0 ? {} : { check_set: checkSet }),
  });
}
