import type { CheckResult } from './check.ts';
import type { Ending } from './ending.ts';
import type {
  CallEvent,
  CheckEvent,
  FaultEvent,
  JournalEvent,
  MessageEvent,
  Opened,
  RejudgedEvent,
  SessionEvent,
  ToolCallEvent,
  VoteEvent,
} from './journal.ts';
import type { Json } from './json.ts';
import type { Message } from './transcript.ts';

/** Where a run stands: the fold of the events of its latest generation. */
export type Conversation = {
  /** 0: not opened yet. */
  readonly generation: number;
  readonly transcript: readonly Message[];
  readonly session: { readonly open: boolean; readonly started: boolean; readonly id?: string };
  /** Tool calls of the reply that is being made: asked, and answered where they have a result. */
  readonly toolCalls: readonly ToolCallEvent[];
  /** The state of the target's tools. */
  readonly state?: Json;
  /** Checks asked at each turn, by turn. */
  readonly turnChecks: Readonly<Record<number, readonly CheckResult[]>>;
  readonly votes: readonly VoteEvent[];
  /** Checks of the whole run. */
  readonly checks: readonly CheckResult[];
  /** What the last message decided, to be made true once its turn is complete. */
  readonly decided?: Ending;
  readonly ending?: Ending;
  /** What broke the run for good. */
  readonly broken?: FaultEvent;
  /** Sum of the times of successful calls of driver and target, in milliseconds. */
  readonly playMs: number;
  /**
   * Faulty calls since the last successful one: tries and refusals to be patient about (never tries), and how long
   * they and the waits after them took.
   */
  readonly failing: { readonly tries: number; readonly refusals: number; readonly ms: number };
  /** Time of faulty calls and of the waits after them, in milliseconds. */
  readonly waitedMs: number;
  /** How often the target made the conversation begin again (calls of unknown fate, sessions that it lost). */
  readonly restarts: number;
  /** Messages of the driver's model since the last message that were asked for again. */
  readonly unfit: number;
  /** The call that is due may have been made already, by this worker or by one that was lost: its fate is unknown. */
  readonly unsure: boolean;
  /** The last writer returned in order: nothing was in flight. */
  readonly released: boolean;
  /** Lost workers in a row with whom the run got no further. */
  readonly fruitless: number;
  /** The most messages that a conversation of this run has had; while it is played again, nothing is new. */
  readonly reached: number;
};

export const unopened: Conversation = {
  generation: 0,
  transcript: [],
  session: { open: false, started: false },
  toolCalls: [],
  turnChecks: {},
  votes: [],
  checks: [],
  playMs: 0,
  failing: { tries: 0, refusals: 0, ms: 0 },
  waitedMs: 0,
  restarts: 0,
  unfit: 0,
  unsure: false,
  released: true,
  fruitless: 0,
  reached: 0,
};

/** The conversation after one more event. An `opened` starts it anew. */
export function applyEvent(conversation: Conversation, event: JournalEvent): Conversation {
  switch (event.kind) {
    case 'resumed':
      return takenOver(conversation);
    case 'released':
      return { ...conversation, released: true };
    case 'opened':
      return openedAnew(conversation, event);
    case 'session':
      return { ...conversation, session: sessionAfter(conversation, event), unsure: false };
    default:
      return {
        ...withEvent(conversation, event),
        fruitless: isNew(conversation) ? 0 : conversation.fruitless,
      };
  }
}

type PlayedEvent = Exclude<JournalEvent, { kind: 'resumed' | 'released' | 'opened' | 'session' }>;

function withEvent(conversation: Conversation, event: PlayedEvent): Conversation {
  switch (event.kind) {
    case 'message':
      return withMessage(conversation, event);
    case 'tool_call':
      return { ...conversation, toolCalls: withToolCall(conversation.toolCalls, event) };
    case 'state':
      return { ...conversation, state: event.state };
    case 'call':
      return withCall(conversation, event);
    case 'vote':
      return { ...conversation, votes: [...conversation.votes, event] };
    case 'check':
      return withCheck(conversation, event);
    case 'rejudged':
      return withoutChecks(conversation, event);
    case 'ended':
      return { ...conversation, ending: event.ending };
    case 'fault':
      return event.final ? { ...conversation, broken: event } : conversation;
  }
}

function withoutChecks(conversation: Conversation, { generation, checks }: RejudgedEvent): Conversation {
  const isKept = ({ check }: { readonly check: string }) => !checks.includes(check);
  const turnChecks = Object.entries(conversation.turnChecks).map(([turn, results]) => [
    turn,
    results.filter(isKept),
  ]);
  return {
    ...conversation,
    generation,
    checks: conversation.checks.filter(isKept),
    votes: conversation.votes.filter(isKept),
    turnChecks: Object.fromEntries(turnChecks),
  };
}

/** Where the events lead. */
export function foldConversation(events: readonly JournalEvent[]): Conversation {
  return events.reduce(applyEvent, unopened);
}

/** Another writer goes on. Where the last one did not return in order, its call may have been in flight. */
function takenOver(conversation: Conversation): Conversation {
  if (conversation.released) return { ...conversation, released: false };
  return { ...conversation, unsure: true, fruitless: conversation.fruitless + 1 };
}

function openedAnew(conversation: Conversation, { generation, because }: Opened): Conversation {
  const begun = { ...unopened, generation, released: false };
  if (because === undefined || because === 'retry') return begun;
  const { restarts, fruitless, reached } = conversation;
  // A lost worker is not the target's doing.
  return { ...begun, fruitless, reached, restarts: because === 'interrupted' ? restarts : restarts + 1 };
}

/** Whether what happens now never happened in an earlier conversation of this run. */
function isNew({ transcript, reached }: Conversation): boolean {
  return transcript.length >= reached;
}

function sessionAfter(conversation: Conversation, event: SessionEvent): Conversation['session'] {
  const id = event.id ?? conversation.session.id;
  return {
    open: event.open,
    started: true,
    ...(id === undefined ? {} : { id }),
  };
}

function withMessage(conversation: Conversation, event: MessageEvent): Conversation {
  const message: Message = {
    by: event.by,
    turn: event.turn,
    text: event.text,
    toolCalls: event.tool_calls ?? [],
    ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
    ...(event.marks === undefined ? {} : { marks: event.marks }),
  };
  // A driver that is done keeps its word, whatever the target's last answer decides.
  const decided = conversation.decided ?? event.ends;
  const transcript = [...conversation.transcript, message];
  return {
    ...conversation,
    transcript,
    reached: Math.max(conversation.reached, transcript.length),
    toolCalls: [],
    unfit: 0,
    unsure: false,
    ...(decided === undefined ? {} : { decided }),
  };
}

function withToolCall(calls: readonly ToolCallEvent[], event: ToolCallEvent): readonly ToolCallEvent[] {
  const at = calls.findIndex((call) => call.id === event.id && call.step === event.step);
  return at === -1 ? [...calls, event] : calls.with(at, event);
}

function withCall(conversation: Conversation, event: CallEvent): Conversation {
  if (event.role === 'judge') return conversation;
  const { playMs, failing, waitedMs, unfit, unsure } = conversation;
  if (event.code === 'ok') {
    return {
      ...conversation,
      playMs: playMs + event.ms,
      failing: unopened.failing,
      unfit: unfit + (event.wasted === true ? 1 : 0),
      unsure: false,
    };
  }
  const ms = event.ms + (event.wait_ms ?? 0);
  const isRefusal = event.code === 'rate_limited';
  return {
    ...conversation,
    failing: {
      tries: failing.tries + (isRefusal ? 0 : 1),
      refusals: failing.refusals + (isRefusal ? 1 : 0),
      ms: failing.ms + ms,
    },
    waitedMs: waitedMs + ms,
    unsure: unsure || event.unsure === true,
  };
}

function withCheck(conversation: Conversation, event: CheckEvent): Conversation {
  if (event.turn === undefined) return { ...conversation, checks: [...conversation.checks, event.result] };
  const ofTurn = [...(conversation.turnChecks[event.turn] ?? []), event.result];
  return { ...conversation, turnChecks: { ...conversation.turnChecks, [event.turn]: ofTurn } };
}
