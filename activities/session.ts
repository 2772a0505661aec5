import { Fault } from '../domain/fault.ts';
import type { Opened } from '../domain/journal.ts';
import { makeCall } from './call.ts';
import { settleFault } from './fault-policy.ts';
import { openConversation } from './opening.ts';
import type { Target } from './ports.ts';
import { messageOf } from './reply.ts';
import type { StretchEnd } from './run-work.ts';
import type { NewEvent, Stretch } from './stretch.ts';
import { callFactsOf, targetCallOf } from './target-call.ts';

/** A session that is given up is asked to close for so long. */
const partingMs = 10_000;

/** Opens the target's session; what the target says at once is the greeting. */
export async function startSession(stretch: Stretch, target: Target): Promise<StretchEnd | undefined> {
  const called = await makeCall(stretch, {
    ...callFactsOf(stretch, 0),
    make: (options) => target.start(targetCallOf(stretch, 0), options),
  });
  if (called.kind === 'leave') return called.end;
  if (called.kind === 'fault') return settleFault(stretch, 'target', called.fault);
  const { sessionId, greeting } = called.value;
  const said = greeting === undefined ? [] : [messageOf(greeting, 0)];
  // It may turn out only now that there is nothing to open: then nothing was called.
  if (target.sessions) await stretch.record(called.event, openSession(sessionId), ...said);
  else await stretch.record({ kind: 'session', open: false }, ...said);
  return undefined;
}

/** A session that the target opened or renamed. */
export function openSession(id: string | undefined): NewEvent {
  return { kind: 'session', open: true, ...(id === undefined ? {} : { id }) };
}

/** Whether the target remembers this conversation, so that a message sent twice would be heard twice. */
export function isBound(stretch: Stretch): boolean {
  return stretch.now().session.open && !stretch.plan.target.idempotent;
}

/** Begins the conversation again where `on_lost_session` and the target's tries allow it. */
export async function lostSession(stretch: Stretch, target: Target, fault: Fault): Promise<undefined> {
  const { onLostSession, retries } = stretch.plan.target;
  const because = fault.blame === 'target' ? 'lost_session' : 'interrupted';
  const isSpent = because === 'lost_session' && stretch.now().restarts + 1 >= retries;
  if (onLostSession === 'break' || isSpent) return settleFault(stretch, 'target', fault);
  return restart(stretch, target, because);
}

/** Begins the conversation again in a new session; the old one is closed as far as it will be. */
export async function restart(
  stretch: Stretch,
  target: Target,
  because: Exclude<Opened['because'], undefined | 'retry'>,
): Promise<undefined> {
  if (because !== 'lost_session') await partFrom(stretch, target);
  await openConversation(stretch, { because, generation: stretch.now().generation + 1 });
}

async function partFrom(stretch: Stretch, target: Target): Promise<void> {
  await stretch.deps.contact.hold(stretch.signals.abort);
  const options = stretch.callOptions();
  try {
    await target.end(targetCallOf(stretch, 0), {
      ...options,
      timeoutMs: Math.min(options.timeoutMs, partingMs),
    });
  } catch (error) {
    // The session is given up either way: its target may be the very thing that does not answer.
    if (!(error instanceof Fault)) throw error;
  }
}
