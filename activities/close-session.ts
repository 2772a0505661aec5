import type { Context } from '@temporalio/activity';
import { Fault } from '../domain/fault.ts';
import type { Catalog } from './catalog.ts';
import { withStretch } from './converse.ts';
import { settleFault } from './fault-policy.ts';
import type { Dependencies } from './ports.ts';
import type { CloseInput, RunSummary } from './run-work.ts';
import { scoreWithoutCalls, settle } from './settling.ts';
import type { Signals, Stretch } from './stretch.ts';
import { callOf } from './target-turn.ts';

const tries = 3;
/** For all tries together. */
const limitMs = 60_000;

/** Closes the target's session, as far as the target lets us, and settles the run. The last thing that happens to it. */
export async function closeSession(
  deps: Dependencies,
  catalog: Catalog,
  input: CloseInput,
  signals: Signals,
  context: Context,
): Promise<RunSummary> {
  const stretchInput = { ...input, stretchMs: limitMs, longestWaitMs: 0 };
  const end = await withStretch(deps, catalog, stretchInput, signals, context, async (stretch) => {
    const sessionNote = await close(stretch);
    if (input.bug !== undefined) {
      await settleFault(stretch, 'judge', new Fault('bug', input.bug, { blame: 'infrastructure' }));
    } else if (!input.cancelled) {
      await scoreWithoutCalls(stretch);
    }
    const note = sessionNote === undefined ? {} : { sessionNote };
    return { kind: 'settled', summary: await settle(stretch, { cancelled: input.cancelled, ...note }) } as const;
  });
  return end.summary;
}

/** Returns a note where the session could not be closed. */
async function close(stretch: Stretch): Promise<string | undefined> {
  const { deps, plan } = stretch;
  const { target: spec } = plan;
  if (!stretch.now().session.open || spec.kind === 'chat') return undefined;
  const target = deps.targets.open(spec);
  const deadline = deps.clock.now() + limitMs;
  let note = '';
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const leftMs = deadline - deps.clock.now();
    if (leftMs <= 0) break;
    try {
      const options = stretch.callOptions();
      await target.end(callOf(stretch, 0), { ...options, timeoutMs: Math.min(options.timeoutMs, leftMs) });
      await stretch.record({ kind: 'session', open: false });
      return undefined;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // A session that is gone is closed.
      if (error.code === 'lost_session') return undefined;
      note = error.message;
    }
  }
  return `the session was not closed: ${note}`;
}
