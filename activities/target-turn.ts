import { Fault } from '../domain/fault.ts';
import { type Called, makeCall } from './call.ts';
import { settleFault } from './fault-policy.ts';
import type { Target, TargetReply } from './ports.ts';
import { queueTurn } from './queue-turn.ts';
import { messageOf } from './reply.ts';
import type { StretchEnd } from './run-work.ts';
import { isBound, lostSession, openSession, restart } from './session.ts';
import type { Stretch } from './stretch.ts';
import { callFactsOf, targetCallOf } from './target-call.ts';

/** One reply of a target that is not a chat model; turn 0 is its greeting. */
export async function targetTurn(
  stretch: Stretch,
  target: Target,
  turn: number,
): Promise<StretchEnd | undefined> {
  const { target: spec } = stretch.plan;
  const { onUnsureTurn } = spec;
  const mayBeResent = !isBound(stretch) || onUnsureTurn === 'resend';
  const queued = spec.kind === 'queue' ? queueTurn(stretch, spec, turn) : undefined;
  if (stretch.now().unsure && !mayBeResent && queued?.hasReply !== true) {
    if (onUnsureTurn === 'break') return settleFault(stretch, 'target', unsureCall());
    return restart(stretch, target, 'interrupted');
  }
  const called = await makeCall(stretch, {
    ...callFactsOf(stretch, turn),
    once: !mayBeResent,
    make: (options) => queued?.read() ?? target.reply(targetCallOf(stretch, turn), options),
    elsewhere: () => queued?.elsewhere(),
  });
  switch (called.kind) {
    case 'leave':
      return called.end;
    case 'fault':
      return afterTargetFault(stretch, target, called);
    case 'ok':
      return recordReply(stretch, turn, called);
  }
}

async function recordReply(
  stretch: Stretch,
  turn: number,
  { value: reply, event }: Extract<Called<TargetReply>, { kind: 'ok' }>,
): Promise<undefined> {
  const { sessionId } = reply;
  const isNew = sessionId !== undefined && sessionId !== stretch.now().session.id;
  await stretch.record(event, ...(isNew ? [openSession(sessionId)] : []), messageOf(reply, turn));
}

/** A fault that is not simply tried again: calls of unknown fate and lost sessions have rules of their own. */
async function afterTargetFault(
  stretch: Stretch,
  target: Target,
  { fault, final }: Extract<Called<TargetReply>, { kind: 'fault' }>,
): Promise<undefined> {
  const { onUnsureTurn } = stretch.plan.target;
  if (fault.code === 'lost_session') return lostSession(stretch, target, fault);
  if (!fault.unsure || !isBound(stretch) || onUnsureTurn === 'resend')
    return settleFault(stretch, 'target', fault);
  if (onUnsureTurn === 'break') return settleFault(stretch, 'target', unsureCall(fault));
  if (final || isSpent(stretch)) return settleFault(stretch, 'target', fault);
  return restart(stretch, target, 'unsure_call');
}

/** Whether the target has used up its tries: each unsure call, and each conversation that it made begin again, is one. */
function isSpent(stretch: Stretch): boolean {
  const { failing, restarts } = stretch.now();
  return failing.tries + restarts >= stretch.plan.target.retries;
}

function unsureCall(cause?: Fault): Fault {
  const detail = cause === undefined ? '' : `: ${cause.message}`;
  const message = `a call to the target may have reached it, and on_unsure_turn is break${detail}`;
  return new Fault('unsure_call', message, { blame: 'infrastructure', cause });
}
