import type { AskedToolCall, ChatMessage } from '../../activities/ports.ts';
import type { HttpExchange } from '../../adapters/http-tap.ts';
import type { Json } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/transcript.ts';
import type { DryRun, DryStep } from '../../workers/dry-run.ts';
import type { Chosen } from './choose.ts';
import { type Reading, readingsOf } from './readings.ts';

/** A dry run without secrets, in the shape in which it is printed. */
export type ShownRun = {
  /** A reply was read, and nothing was at fault. */
  readonly ok: boolean;
  readonly target: string;
  readonly variant?: string;
  readonly scenario: string;
  readonly steps: readonly ShownStep[];
  /** Why the conversation stopped; absent where a fault or a signal stopped it. */
  readonly ending?: string;
  /** What stopped it. */
  readonly trouble?: string;
};

export type ShownStep = {
  readonly step: 'start' | 'greeting' | 'message' | 'model' | 'end';
  /** What the driver said. */
  readonly message?: string;
  /** What a chat target was told since the step before. */
  readonly told?: readonly ToldMessage[];
  readonly requests: readonly ShownExchange[];
  readonly read?: {
    readonly text?: string;
    readonly session_id?: string;
    readonly tool_calls?: readonly ToolCall[];
    readonly metadata?: Json;
    readonly ms: number;
  };
  readonly paths: readonly Reading[];
  readonly fault?: { readonly code: string; readonly blame: string; readonly message: string };
};

export type ToldMessage = {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly ToolCall[];
};

export type ShownExchange = Omit<HttpExchange, 'answer'> & {
  readonly status?: number;
  readonly answer?: string;
};

/** What is printed of a dry run. */
export function shownRun(
  { target, scenario }: Chosen,
  { steps, transcript, ending, trouble, hide }: DryRun,
): ShownRun {
  let told = 0;
  const shown = steps.flatMap((step): readonly ShownStep[] => {
    // A target without a request for it has nothing to start or to end.
    const isEmpty = step.exchanges.length === 0 && step.fault === undefined && target.kind !== 'module';
    if (isEmpty && (step.kind === 'start' || step.kind === 'end')) return [];
    const messages = step.kind === 'model' ? step.request.messages : [];
    const fresh = messages.slice(told);
    told = messages.length;
    return [
      {
        ...wordsOf(step),
        ...(fresh.length === 0 ? {} : { told: fresh.map(toldOf) }),
        requests: step.exchanges.map(shownExchange),
        ...readOf(step),
        paths: readingsOf(target, step),
        ...faultOf(step),
      },
    ];
  });
  const isHeard = transcript.some(({ by }) => by === 'target');
  const run: ShownRun = {
    ok: isHeard && trouble === undefined && steps.every(({ fault }) => fault === undefined),
    target: target.kind,
    ...(target.variant === undefined ? {} : { variant: target.variant }),
    scenario: scenario.id,
    steps: shown,
    ...(ending === undefined ? {} : { ending: ending.kind }),
    ...(trouble === undefined ? {} : { trouble }),
  };
  return hidden(run, hide);
}

function toldOf(message: ChatMessage): ToldMessage {
  const { role, content } = message;
  const calls = role === 'assistant' ? (message.toolCalls ?? []) : [];
  return { role, content, ...(calls.length === 0 ? {} : { tool_calls: calls.map(askedCall) }) };
}

function askedCall({ name, args, argsText }: AskedToolCall): ToolCall {
  return { name, args: args ?? argsText };
}

function wordsOf(step: DryStep): Pick<ShownStep, 'step' | 'message'> {
  switch (step.kind) {
    case 'start':
    case 'end':
    case 'model':
      return { step: step.kind };
    case 'reply': {
      const { latestMessage } = step.call;
      return latestMessage === undefined ? { step: 'greeting' } : { step: 'message', message: latestMessage };
    }
  }
}

function readOf(step: DryStep): Pick<ShownStep, 'read'> {
  if (step.kind === 'end' || step.read === undefined) return {};
  if (step.kind === 'model') {
    const { text, toolCalls, ms } = step.read;
    const calls = toolCalls.map(askedCall);
    return { read: { text, ...(calls.length === 0 ? {} : { tool_calls: calls }), ms } };
  }
  const reply = step.kind === 'start' ? step.read.greeting : step.read;
  const { sessionId, ms } = step.read;
  return {
    read: {
      ...(reply === undefined ? {} : { text: reply.text }),
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      ...(reply === undefined || reply.toolCalls.length === 0 ? {} : { tool_calls: reply.toolCalls }),
      ...(reply?.metadata === undefined ? {} : { metadata: reply.metadata }),
      ms,
    },
  };
}

function faultOf({ fault }: DryStep): Pick<ShownStep, 'fault'> {
  if (fault === undefined) return {};
  const { code, blame, message } = fault;
  return { fault: { code, blame, message } };
}

function shownExchange({ answer, headers, ...exchange }: HttpExchange): ShownExchange {
  return {
    ...exchange,
    headers,
    ...(answer === undefined ? {} : { status: answer.status, answer: answer.text }),
  };
}

/** Headers whose value is a secret, wherever it comes from. */
const secretHeader = /^(?:proxy-)?authorization$|^cookie$|api-?key|token|secret/;

/** Hides secrets in every text; a secret header that names no variable is hidden whole. */
function hidden(run: ShownRun, hide: (text: string) => string): ShownRun {
  return {
    ...run,
    steps: run.steps.map((step) => ({
      ...hideIn(step, hide),
      requests: step.requests.map((request) => ({
        ...hideIn(request, hide),
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [
            name,
            shownHeader(name, hide(value), value),
          ]),
        ),
      })),
    })),
  };
}

function shownHeader(name: string, shown: string, value: string): string {
  return secretHeader.test(name) && shown === value ? '***' : shown;
}

function hideIn<T>(value: T, hide: (text: string) => string): T {
  return JSON.parse(JSON.stringify(value), (_, inner) =>
    typeof inner === 'string' ? hide(inner) : inner,
  ) as T;
}
