import { Fault } from '../domain/fault.ts';
import { type Attempt, withStretch } from './attempt.ts';
import { settleFault } from './fault-policy.ts';
import type { Target } from './ports.ts';
import { type CloseInput, type RunSummary, summaryOf } from './run-work.ts';
import { scoreWithoutCalls, settle } from './settling.ts';
import type { Stretch } from './stretch.ts';
import { targetCallOf } from './target-call.ts';

const tries = 3;
/** For all tries together. */
const limitMs = 60_000;
const pauseMs = 1_000;

/** Closes the target's session, as far as the target lets us, and settles the run. The last thing that happens to it. */
export async function closeSession(attempt: Attempt, input: CloseInput): Promise<RunSummary> {
  const { cancelled, bug, rejudge = false } = input;
  const isCutShort = cancelled || bug !== undefined;
  const known = isCutShort ? await attempt.deps.store.readResult(input.run) : undefined;
  // What ended before the bug came has its result; a conversation that is only judged again keeps the one it had.
  if (known !== undefined && (rejudge || (bug !== undefined && known.generation >= input.generation)))
    return summaryOf(known);
  const stretchInput = { ...input, stretchMs: limitMs, longestWaitMs: 0 };
  const end = await withStretch(attempt, stretchInput, async (stretch) => {
    const sessionNote = await close(stretch);
    if (bug !== undefined)
      await settleFault(stretch, 'judge', new Fault('bug', bug, { blame: 'infrastructure' }));
    else if (!cancelled) await scoreWithoutCalls(stretch);
    const note = sessionNote === undefined ? {} : { sessionNote };
    return { kind: 'settled', summary: await settle(stretch, { cancelled, ...note }) } as const;
  });
  return end.summary;
}

/** Returns a note where the session could not be closed. */
async function close(stretch: Stretch): Promise<string | undefined> {
  const { deps, plan, signals } = stretch;
  const { target: spec } = plan;
  if (!stretch.now().session.open || spec.kind === 'chat') return undefined;
  const target = deps.targets.open(spec);
  let note = 'there was no time for it';
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    await deps.contact.hold(signals.abort);
    const leftMs = stretch.deadline - deps.clock.now();
    if (leftMs <= 0) break;
    const failed = await endSession(stretch, target, leftMs);
    if (failed === undefined) return undefined;
    note = failed.message;
    if (attempt < tries)
      await deps.clock.sleep(Math.min(failed.retryAfterMs ?? pauseMs, leftMs), signals.abort);
  }
  return `the session was not closed: ${note}`;
}

/** One try; returns the fault where it failed. A session that is gone is closed. */
async function endSession(stretch: Stretch, target: Target, leftMs: number): Promise<Fault | undefined> {
  const options = stretch.callOptions();
  try {
    await target.end(targetCallOf(stretch, 0), {
      ...options,
      timeoutMs: Math.min(options.timeoutMs, leftMs),
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code !== 'lost_session') return error;
  }
  await stretch.record({ kind: 'session', open: false });
  return undefined;
}
