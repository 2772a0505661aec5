import type { CallOptions, SessionStart, Target, TargetCall, TargetReply } from '../activities/ports.ts';
import { Fault } from '../domain/fault.ts';
import { type Json, type JsonObject, textOf } from '../domain/json.ts';
import type { Scenario } from '../domain/scenario.ts';
import type { ModuleTarget } from '../domain/sweep-spec.ts';
import { historyOf } from '../domain/transcript.ts';
import { createBatch } from './module-batch.ts';
import { readModuleReply, readModuleStart } from './module-reply.ts';
import type { ModuleHost, Seated, SeatedOptions } from './modules/index.ts';
import type { Turnstile } from './turnstile.ts';

export type ModuleTargetParts = { readonly modules: ModuleHost; readonly turnstile: Turnstile };

type Asked = Pick<SeatedOptions, 'seat' | 'session' | 'isSpread'>;
type Timed = { readonly answer: Seated; readonly ms: number };

/** Calls one function of the module. */
type Caller = (name: string, input: Json, options: CallOptions, asked?: Asked) => Promise<Timed>;

/** A target in user code: holds a conversation, or answers inputs one by one or in batches. */
export function createModuleTarget(spec: ModuleTarget, { modules, turnstile }: ModuleTargetParts): Target {
  const { module, calls = 'conversation' } = spec;
  const call: Caller = async (name, input, options, asked = {}) => {
    const leave = await turnstile.enter(options.order, options.signal);
    const began = performance.now();
    const { timeoutMs, signal } = options;
    try {
      const answer = await modules.callSeated(module, name, input, {
        timeoutMs,
        signal,
        blame: 'target',
        ...asked,
      });
      return { answer, ms: performance.now() - began };
    } finally {
      leave();
    }
  };
  switch (calls) {
    case 'conversation':
      return conversationTarget(module.file, modules.home, call);
    case 'single':
      return inputTarget(module.file, async ({ input }, options) =>
        given(module.file, 'invoke', await call('invoke', input, options)),
      );
    case 'batch': {
      const ask = createBatch({
        size: spec.batchSize ?? 1,
        file: module.file,
        call: async (items, options) =>
          given(module.file, 'invokeBatch', await call('invokeBatch', items, options)),
      });
      return inputTarget(module.file, ({ id, input }, options) => ask(id, input, options), 'invokeBatch');
    }
  }
}

type Given = { readonly value?: Json; readonly ms: number };

/** A target without memory: each driver message, or the scenario's input where it is the message, is one input. */
function inputTarget(
  file: string,
  ask: (asked: { readonly id: string; readonly input: Json }, options: CallOptions) => Promise<Given>,
  name = 'invoke',
): Target {
  return {
    sessions: false,
    start: async () => ({ ms: 0 }),
    reply: async ({ scenario, latestMessage = '', idempotencyKey }, options) => {
      const input = latestMessage === textOf(scenario.input) ? scenario.input : latestMessage;
      const { value, ms } = await ask({ id: idempotencyKey, input }, options);
      return readModuleReply(value, { file, name, ms }, 'prediction');
    },
    end: async () => {},
  };
}

/**
 * A target that holds a conversation: `reply({ messages, scenario, sessionId, key })`, and with sessions
 * `start(scenario)` and `end(sessionId)`; or `invoke(messages, scenarioInput, sessionId)`, and with sessions
 * `startSession(scenarioInput)` and `endSession(sessionId)`. A session lives in the memory of one thread: its id says
 * which, `ID@HOME.THREAD`, and user code sees its own `ID`. Whether there are sessions is known from the first start
 * on; until then they are supposed.
 */
function conversationTarget(file: string, home: string, call: Caller): Target {
  let isStateless = false;
  const eitherOf = (...functions: readonly Spoken[]) => callFirst(functions, call);
  const start = eitherOf({ name: 'start' }, { name: 'startSession' });
  const reply = eitherOf({ name: 'reply' }, { name: 'invoke', isSpread: true });
  const end = eitherOf({ name: 'end' }, { name: 'endSession' });
  return {
    get sessions() {
      return !isStateless;
    },
    start: async ({ scenario }, options): Promise<SessionStart> => {
      const inputs = [scenarioJson(scenario), scenario.input];
      const { answer, ms, name } = await start(inputs, options, { session: 'opens' });
      isStateless = answer.kind === 'no_export';
      if (answer.kind === 'no_export') return { ms };
      const started = readModuleStart(answer.value, { file, name, ms });
      const { sessionId } = started;
      return sessionId === undefined
        ? started
        : { ...started, sessionId: sessionName(sessionId, home, answer.seat) };
    },
    reply: async (asked, options): Promise<TargetReply> => {
      const session = sessionOf(asked, file, home);
      const seat = session === undefined ? {} : { seat: session.seat };
      const { answer, ms, name } = await reply(repliesTo(asked, session?.id), options, seat);
      if (answer.kind === 'no_export') throw lacking(file, 'reply" or "invoke');
      const read = readModuleReply(answer.value, { file, name, ms }, 'refuse');
      if (read.sessionId === undefined) return read;
      isStateless = false;
      return { ...read, sessionId: sessionName(read.sessionId, home, answer.seat) };
    },
    end: async (asked, options) => {
      try {
        const session = sessionOf(asked, file, home);
        if (session === undefined) return;
        const { id, seat } = session;
        await end([id, id], options, { seat, session: 'closes' });
      } catch (error) {
        // Memory that is gone is as good as closed.
        if (!(error instanceof Fault && error.code === 'lost_session')) throw error;
      }
    },
  };
}

/** A function of user code, and whether its input is a list of arguments. */
type Spoken = { readonly name: string; readonly isSpread?: boolean };

/** Calls the first of several functions that the module exports, each with its own input; which one is learned once. */
function callFirst(functions: readonly Spoken[], call: Caller) {
  let known: number | undefined;
  return async (inputs: readonly Json[], options: CallOptions, asked: Asked) => {
    const last = functions.length - 1;
    for (let at = known ?? 0; ; at += 1) {
      const { name = '', isSpread = false } = functions[at] ?? {};
      const timed = await call(name, inputs[at] ?? null, options, { ...asked, isSpread });
      if (timed.answer.kind === 'answer') known = at;
      if (timed.answer.kind === 'answer' || at >= last) return { ...timed, name };
    }
  };
}

/** What a call of a function that must be there gave. */
function given(file: string, name: string, { answer, ms }: Timed): Given {
  if (answer.kind === 'no_export') throw lacking(file, name);
  return { ms, ...(answer.value === undefined ? {} : { value: answer.value }) };
}

function lacking(file: string, name: string): Fault {
  const message = `${file} exports no function "${name}"`;
  return new Fault('not_found', message, { blame: 'configuration', endpoint: file });
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

/** The input of `reply`, and the arguments of `invoke`. */
function repliesTo(call: TargetCall, sessionId: string | undefined): readonly Json[] {
  const messages = historyOf(call.transcript);
  return [
    {
      messages,
      scenario: scenarioJson(call.scenario),
      key: call.idempotencyKey,
      ...(sessionId === undefined ? {} : { sessionId }),
    },
    [messages, call.scenario.input, sessionId ?? null],
  ];
}
