import type { Conversation } from '../domain/conversation.ts';
import { Fault } from '../domain/fault.ts';
import { type Attempt, attemptCall } from './attempt.ts';
import { chatReply } from './chat-target.ts';
import { settleFault } from './fault-policy.ts';
import { openConversation } from './opening.ts';
import type { SessionStart, Target, TargetCall, TargetReply } from './ports.ts';
import type { StretchEnd } from './run-work.ts';
import type { NewEvent, Stretch } from './stretch.ts';

/** Opens the target's session; what it says at once is the greeting. */
export async function startSession(stretch: Stretch, target: Target): Promise<StretchEnd | undefined> {
  const attempt = await attemptCall(stretch, {
    ...targetCall(stretch, 0),
    make: (options) => target.start(callOf(stretch, 0), options),
  });
  if (attempt.kind === 'leave') return attempt.end;
  if (attempt.kind === 'fault') return settleFault(stretch, 'target', attempt.fault);
  const { value: started, event } = attempt;
  await stretch.record(event, sessionEvent(started, target), ...greetingOf(started));
  return undefined;
}

function sessionEvent(started: SessionStart, target: Target): NewEvent {
  return {
    kind: 'session',
    open: true,
    ...(started.sessionId === undefined ? {} : { id: started.sessionId }),
    ...(target.home === undefined ? {} : { home: target.home }),
  };
}

function greetingOf(started: SessionStart): readonly NewEvent[] {
  return started.greeting === undefined ? [] : [messageOf(started.greeting, 0)];
}

/** One reply of the target; turn 0 is its greeting. */
export async function targetTurn(stretch: Stretch, target: Target | undefined, turn: number): Promise<StretchEnd | undefined> {
  const { target: spec } = stretch.plan;
  if (spec.kind === 'chat' || target === undefined) {
    if (spec.kind !== 'chat') throw new Error(`no adapter for target kind ${spec.kind}`);
    return chatReply(stretch, spec, turn);
  }
  const now = stretch.now();
  const left = await beforeReply(stretch, target);
  if (left !== 'go on') return left;
  const attempt = await attemptCall(stretch, {
    ...targetCall(stretch, turn),
    once: isBound(stretch, now),
    resent: mayHaveBeenSent(stretch),
    make: (options) => target.reply(callOf(stretch, turn), options),
  });
  if (attempt.kind === 'leave') return attempt.end;
  if (attempt.kind === 'fault') return afterTargetFault(stretch, target, attempt.fault);
  await recordReply(stretch, target, turn, attempt);
  return undefined;
}

async function recordReply(
  stretch: Stretch,
  target: Target,
  turn: number,
  attempt: Extract<Attempt<TargetReply>, { kind: 'ok' }>,
): Promise<void> {
  const { value: reply, event } = attempt;
  const { sessionId } = reply;
  const isNew = sessionId !== undefined && sessionId !== stretch.now().session.id;
  const session = isNew ? [sessionEvent({ sessionId, ms: 0 }, target)] : [];
  await stretch.record(event, ...session, messageOf(reply, turn));
}

function messageOf(reply: TargetReply, turn: number): NewEvent {
  return {
    kind: 'message',
    by: 'target',
    turn,
    text: reply.text,
    ...(reply.toolCalls.length === 0 ? {} : { tool_calls: reply.toolCalls }),
    ...(reply.metadata === undefined ? {} : { metadata: reply.metadata }),
    ...(reply.end === true ? { ends: { kind: 'target_hung_up' } as const } : {}),
  };
}

/** Whether the target remembers this conversation, so that a message sent twice would be heard twice. */
function isBound(stretch: Stretch, now: Conversation): boolean {
  return now.session.open && now.session.id !== undefined && !stretch.plan.target.idempotent;
}

/**
 * Whether the call that is due may have been made already: its last try is of unknown fate, or an earlier worker
 * wrote what comes before it and did not return in order.
 */
function mayHaveBeenSent(stretch: Stretch): boolean {
  const last = stretch.folded().events.at(-1);
  if (last?.kind === 'call') return last.unsure === true;
  return last !== undefined && stretch.inherited() && last.kind !== 'released';
}

/** Looks whether the session still lives, and what to do about a call that an earlier worker may have made. */
async function beforeReply(stretch: Stretch, target: Target): Promise<StretchEnd | undefined | 'go on'> {
  const now = stretch.now();
  const { target: spec } = stretch.plan;
  const moved = now.session.open && now.session.home !== undefined && now.session.home !== target.home;
  if (moved) return lostSession(stretch, target, 'interrupted', 'the process that held its memory is gone');
  if (!isBound(stretch, now) || !mayHaveBeenSent(stretch)) return 'go on';
  if (spec.onUnsureTurn === 'resend') return 'go on';
  if (spec.onUnsureTurn === 'restart') return restart(stretch, target, 'interrupted');
  return settleFault(stretch, 'target', unsureCall());
}

function unsureCall(cause?: Fault): Fault {
  const message = `a call to the target may have reached it, and on_unsure_turn is break${cause === undefined ? '' : `: ${cause.message}`}`;
  return new Fault('unsure_call', message, { blame: 'infrastructure', cause });
}

/** A final fault of the target: an unsure call and a lost session have rules of their own. */
async function afterTargetFault(stretch: Stretch, target: Target, fault: Fault): Promise<StretchEnd | undefined> {
  const { target: spec } = stretch.plan;
  if (fault.code === 'lost_session') return lostSession(stretch, target, 'lost_session', fault.message);
  if (!fault.unsure || !isBound(stretch, stretch.now()) || isSpent(stretch)) return settleFault(stretch, 'target', fault);
  if (spec.onUnsureTurn === 'break') return settleFault(stretch, 'target', unsureCall(fault));
  if (spec.onUnsureTurn === 'restart') return restart(stretch, target, 'unsure_call');
  // Sent again by the loop: the journal counts the tries.
  return undefined;
}

/** Whether the target has used up its tries: each unsure call, and each conversation that it made begin again, is one. */
function isSpent(stretch: Stretch): boolean {
  const { failing, restarts } = stretch.now();
  return failing.tries + restarts >= stretch.plan.target.retries;
}

async function lostSession(
  stretch: Stretch,
  target: Target,
  because: 'interrupted' | 'lost_session',
  detail: string,
): Promise<StretchEnd | undefined> {
  const { onLostSession } = stretch.plan.target;
  const fault = new Fault('lost_session', `the target lost its session: ${detail}`, {
    blame: because === 'lost_session' ? 'target' : 'infrastructure',
  });
  const restarts = because === 'interrupted' || stretch.now().restarts + 1 < stretch.plan.target.retries;
  if (onLostSession === 'break' || !restarts) return settleFault(stretch, 'target', fault);
  return restart(stretch, target, because);
}

/** Begins the conversation again in a new session; the old one is closed as far as it will be. */
async function restart(
  stretch: Stretch,
  target: Target,
  because: 'unsure_call' | 'interrupted' | 'lost_session',
): Promise<undefined> {
  if (because !== 'lost_session') await leaveSession(stretch, target);
  await openConversation(stretch, { because, generation: stretch.now().generation + 1 });
  return undefined;
}

async function leaveSession(stretch: Stretch, target: Target): Promise<void> {
  try {
    await target.end(callOf(stretch, 0), stretch.callOptions());
  } catch (error) {
    // The session is given up either way: its target may be the very thing that does not answer.
    if (!(error instanceof Fault)) throw error;
  }
}

function targetCall(stretch: Stretch, turn: number) {
  const { target } = stretch.plan;
  return {
    role: 'target',
    called: 'target',
    model: target.variant ?? target.kind,
    turn,
    idempotencyKey: keyOf(stretch),
  } as const;
}

function keyOf(stretch: Stretch): string {
  const { generation, transcript } = stretch.now();
  return `${stretch.plan.run.id}/${generation}/${transcript.length}`;
}

/** What the target may know of the conversation as it stands. */
export function callOf(stretch: Stretch, turn: number): TargetCall {
  const { run, scenario } = stretch.plan;
  const { transcript, session } = stretch.now();
  const latest = transcript.at(-1);
  return {
    runId: run.id,
    scenario,
    repeat: run.repeat,
    seed: run.seed,
    turn,
    transcript,
    ...(latest?.by === 'driver' ? { latestMessage: latest.text } : {}),
    ...(session.id === undefined ? {} : { sessionId: session.id }),
    idempotencyKey: keyOf(stretch),
  };
}
