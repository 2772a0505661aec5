import type { CallOptions, SessionStart, Target, TargetCall, TargetReply } from '../activities/ports.ts';
import { Fault } from '../domain/fault.ts';
import { isJsonObject, type Json, type JsonObject, textOf } from '../domain/json.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { ModuleTarget } from '../domain/sweep-spec.ts';
import { textIn } from './http-target/reply.ts';
import type { ModuleHost, Seated } from './modules/index.ts';
import { checkSize } from './reply-size.ts';
import { historyOf } from './target-variables.ts';
import { toolCallsIn } from './tool-calls.ts';
import type { Turnstile } from './turnstile.ts';

export type ModuleTargetParts = { readonly modules: ModuleHost; readonly turnstile: Turnstile };

/**
 * A target in user code: `reply({ messages, scenario, sessionId, key })`, and with sessions `start(scenario)` and
 * `end(sessionId)`. A session lives in the memory of one thread: its id says which, `ID@HOME.THREAD`, and user code
 * sees its own `ID`. Whether there are sessions is known from the first `start` on; until then they are supposed.
 */
export function createModuleTarget(
  { module }: ModuleTarget,
  { modules, turnstile }: ModuleTargetParts,
): Target {
  let isStateless = false;
  const { file } = module;

  const call = async (
    name: string,
    input: Json,
    { timeoutMs, signal, order }: CallOptions,
    seat?: number,
  ) => {
    const leave = await turnstile.enter(order, signal);
    const began = performance.now();
    const options = { timeoutMs, signal, blame: 'target', ...(seat === undefined ? {} : { seat }) } as const;
    try {
      const answer = await modules.callSeated(module, name, input, options);
      return { answer, ms: performance.now() - began };
    } finally {
      leave();
    }
  };

  return {
    get sessions() {
      return !isStateless;
    },
    start: async ({ scenario }, options) => {
      const { answer, ms } = await call('start', scenarioJson(scenario), options);
      isStateless = answer.kind === 'no_export';
      return answer.kind === 'no_export' ? { ms } : readStart({ ...answer, ms }, file, modules.home);
    },
    reply: async (asked, options) => {
      const session = sessionOf(asked, file, modules.home);
      const { answer, ms } = await call('reply', replyInput(asked, session?.id), options, session?.seat);
      if (answer.kind === 'no_export') {
        throw new Fault('not_found', `${file} exports no function "reply"`, {
          blame: 'configuration',
          endpoint: file,
        });
      }
      const reply = readReply(answer.value, { file, ms });
      const { sessionId } = reply;
      if (sessionId === undefined) return reply;
      isStateless = false;
      return { ...reply, sessionId: sessionName(sessionId, modules.home, answer.seat) };
    },
    end: async (asked, options) => {
      try {
        const session = sessionOf(asked, file, modules.home);
        if (session !== undefined) await call('end', session.id, options, session.seat);
      } catch (error) {
        // Memory that is gone is as good as closed.
        if (!(error instanceof Fault && error.code === 'lost_session')) throw error;
      }
    },
  };
}

type Session = { readonly id: string; readonly seat: number };

function sessionName(id: string, home: string, seat: number): string {
  return `${id}@${home}.${seat}`;
}

/** The session of a call, if it has one. Throws a `Fault` lost_session for one of another process. */
function sessionOf({ sessionId }: TargetCall, file: string, home: string): Session | undefined {
  if (sessionId === undefined) return undefined;
  const at = sessionId.lastIndexOf('@');
  const [where, seat] = sessionId.slice(at + 1).split('.');
  if (where === home) return { id: sessionId.slice(0, at), seat: Number(seat) };
  const message = `the process of ${file} that held this session is gone`;
  throw new Fault('lost_session', message, { blame: 'infrastructure', endpoint: file });
}

function scenarioJson({ id, input, expected, tags, meta }: Scenario): JsonObject {
  return { id, input, tags, meta, ...(expected === undefined ? {} : { expected }) };
}

function replyInput(call: TargetCall, sessionId: string | undefined): JsonObject {
  return {
    messages: historyOf(call.transcript),
    scenario: scenarioJson(call.scenario),
    key: call.idempotencyKey,
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

type Started = Extract<Seated, { kind: 'answer' }> & { readonly ms: number };

/** `start` answers with nothing, a session id, or `{ sessionId?, reply? }` with a reply that is the greeting. */
function readStart({ value, seat, ms }: Started, file: string, home: string): SessionStart {
  const { sessionId, reply } = isJsonObject(value) ? value : { sessionId: value, reply: undefined };
  const id = sessionId === undefined || sessionId === null ? undefined : textOf(sessionId);
  const greeting = reply === undefined || reply === null ? undefined : readReply(reply, { file, ms });
  return {
    ms,
    ...(id === undefined ? {} : { sessionId: sessionName(id, home, seat) }),
    ...(greeting === undefined ? {} : { greeting }),
  };
}

/** A reply is text, or `{ text, toolCalls?, sessionId?, end?, metadata? }`. */
function readReply(
  value: Json | undefined,
  { file, ms }: { readonly file: string; readonly ms: number },
): TargetReply {
  const at = { what: `${file} reply()`, endpoint: file };
  const bad = (problem: string) =>
    new Fault('bad_reply', `${at.what} ${problem}`, { blame: 'target', endpoint: file });
  const answer: Json | undefined = typeof value === 'string' ? { text: value } : value;
  if (!isJsonObject(answer)) {
    throw bad(
      `answered with ${JSON.stringify(value ?? null).slice(0, 200)} where text or { text } was expected`,
    );
  }
  const { sessionId, end, metadata } = answer;
  const text = textIn(answer.text ?? null);
  const toolCalls = toolCallsIn(answer.toolCalls);
  if (toolCalls === undefined) throw bad('answered with a tool call that has no name');
  if (text.trim() === '' && toolCalls.length === 0 && end !== true)
    throw bad('answered with neither text nor tool calls');
  const reply: TargetReply = {
    text,
    toolCalls,
    ms,
    ...(sessionId === undefined || sessionId === null ? {} : { sessionId: textOf(sessionId) }),
    ...(end === true ? { end } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  };
  checkSize(reply, at);
  return reply;
}
