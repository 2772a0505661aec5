import { type Attempt, withStretch } from './attempt.ts';
import { playStretch } from './play.ts';
import type { ConverseInput, StretchEnd } from './run-work.ts';
import { needsScoring, scoreWithoutCalls, settle } from './settling.ts';
import type { Stretch } from './stretch.ts';

/**
 * Plays a run on from its journal until the conversation ends, the stretch is spent, a long wait is due, or it is
 * asked to stop. Where the checks need neither model nor user code and no session is open, it also settles the run.
 */
export function converse(attempt: Attempt, input: ConverseInput): Promise<StretchEnd> {
  const { meter } = attempt.deps;
  return withStretch(attempt, input, async (stretch) => {
    meter.runOpened();
    try {
      return (await playStretch(stretch)) ?? (await afterConversation(stretch));
    } finally {
      meter.runLeft();
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
