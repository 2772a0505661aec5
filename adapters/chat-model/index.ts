import type { Dispatcher } from 'undici';
import type { CallOptions, ChatModels, ChatReply, ChatRequest, Clock } from '../../activities/ports.ts';
import { Fault } from '../../domain/fault.ts';
import type { PaceOutcome } from '../../domain/pace.ts';
import type { ModelSpec } from '../../domain/sweep-spec.ts';
import { openDeadline } from '../deadline.ts';
import { probeEndpoint } from '../endpoint-probe.ts';
import type { CheckHost } from '../hosts.ts';
import { nameEndpoint, type Paces } from '../pace.ts';
import type { Prices } from '../prices.ts';
import { readAnswer } from './answer.ts';
import { type Endpoint, openEndpoint } from './endpoint.ts';
import type { Answer } from './exchange.ts';
import {
  type CallPlace,
  describeAnswer,
  faultOfAnswer,
  faultOfError,
  type ModelFaultCause,
  modelFault,
} from './failure.ts';
import { estimateInput } from './reply.ts';
import { toWireRequest } from './request.ts';
import { firstTraits, learn, type Traits } from './traits.ts';

export type ChatModelOptions = {
  readonly dispatcher: Dispatcher;
  readonly paces: Paces;
  readonly prices: Pick<Prices, 'costUsd'>;
  /** Puts values in the place of `${NAME}`. */
  readonly resolve: (text: string) => string;
  /** Hides values of secrets. */
  readonly redact: (text: string) => string;
  readonly clock: Clock;
  readonly checkHost: CheckHost;
};

/** A model's endpoint as this process knows it. */
type Known = { readonly endpoint: Promise<Endpoint>; traits: Traits };

/** More kinds of endpoints than sweeps have; beyond, what was learned is learned anew. */
const mostEndpoints = 500;
/** Each optional parameter may be refused once. */
const mostMendings = 5;
/** What an answer is taken to need of a minute's tokens until its usage is known. */
const expectedOutputTokens = 256;

/**
 * Models behind OpenAI-compatible endpoints. A refusal that names an optional parameter (the temperature, where it is
 * a default; the seed; the forced tool) is mended inside the same call and remembered. A refusal of tools or of the
 * answer's schema changes `abilities` and throws invalid_request with the cause `{ kind: 'ability', ability }`.
 */
export function createChatModels(options: ChatModelOptions): ChatModels {
  const knownOf = endpointsOf(options);

  async function chat(model: ModelSpec, request: ChatRequest, call: CallOptions): Promise<ChatReply> {
    call.signal.throwIfAborted();
    const known = knownOf(model);
    const place = { endpoint: nameEndpoint(model), redact: options.redact, now: options.clock.now };
    const endpoint = await known.endpoint.catch((error: unknown) =>
      Promise.reject(faultOfError(error, place)),
    );
    const pass = await options.paces.enter(model, {
      order: call.order,
      signal: call.signal,
      tokens: () => estimateInput(request) + (request.maxTokens ?? expectedOutputTokens),
    });
    let outcome: PaceOutcome = { kind: 'failed' };
    try {
      const reply = await chatOnce({ model, request, call, known, endpoint, place }, options);
      outcome = { kind: 'served', tokens: reply.usage.inputTokens + reply.usage.outputTokens };
      return reply;
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      pass.leave(outcome);
    }
  }

  return {
    chat,
    async probe(model, call) {
      return probeEndpoint(model, call, { chat, clock: options.clock });
    },
    abilities(model) {
      const { tools, answerSchema } = knownOf(model).traits;
      return { tools, answerSchema };
    },
  };
}

/** Endpoints by what distinguishes them: those of the same spec object are found without looking at it. */
function endpointsOf(options: ChatModelOptions): (model: ModelSpec) => Known {
  const bySpec = new WeakMap<ModelSpec, Known>();
  const byKey = new Map<string, Known>();
  return (model) => {
    const found = bySpec.get(model);
    if (found !== undefined) return found;
    const key = JSON.stringify([model.baseUrl, model.apiKey, model.model, model.headers]);
    if (byKey.size >= mostEndpoints && !byKey.has(key)) byKey.clear();
    const known = byKey.get(key) ?? {
      endpoint: openEndpoint(model, options),
      traits: firstTraits(model.baseUrl),
    };
    // Who calls sees the rejection; nobody may ever call.
    known.endpoint.catch(() => {});
    byKey.set(key, known);
    bySpec.set(model, known);
    return known;
  };
}

type Call = {
  readonly model: ModelSpec;
  readonly request: ChatRequest;
  readonly call: CallOptions;
  readonly known: Known;
  readonly endpoint: Endpoint;
  readonly place: CallPlace;
};

/** One call within its time limit. */
async function chatOnce(call: Call, options: ChatModelOptions): Promise<ChatReply> {
  const { timeoutMs, signal } = call.call;
  const deadline = openDeadline(timeoutMs, signal);
  try {
    return await sendMended(call, options, deadline.signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!deadline.isOver()) throw error;
    const what = `no whole answer within ${timeoutMs / 1000} s`;
    throw modelFault('timed_out', what, call.place, {
      unsure: true,
      cause: { kind: 'connection', code: '' },
    });
  } finally {
    deadline.close();
  }
}

/** Sends, and sends again without what the endpoint refuses, as long as that teaches something. */
async function sendMended(call: Call, options: ChatModelOptions, signal: AbortSignal): Promise<ChatReply> {
  const { model, request, known, endpoint, place } = call;
  for (let mendings = 0; ; mendings++) {
    const { traits } = known;
    const { body, optional, dropped } = toWireRequest(model, request, traits);
    const since = performance.now();
    const answer = await endpoint.post(body, place, { signal, idempotencyKey: call.call.idempotencyKey });
    const ms = Math.round(performance.now() - since);
    if (answer.status >= 200 && answer.status < 300) {
      const { text, toolCalls, usage } = readAnswer(answer, request, place);
      return { text, toolCalls, usage, costUsd: options.prices.costUsd(model, usage), ms, dropped };
    }
    if (mendings === mostMendings || !takeLesson(answer, call, traits, optional)) {
      throw faultOfAnswer(answer, place);
    }
  }
}

/** Whether a refusal teaches how to send the call again. Throws where it shows that the endpoint lacks an ability. */
function takeLesson(answer: Answer, call: Call, traits: Traits, optional: readonly string[]): boolean {
  const { known, place, request } = call;
  // Another call has learned something while this one was under way.
  if (known.traits !== traits && (answer.status === 400 || answer.status === 422)) return true;
  const lesson = learn(traits, request, optional, answer);
  if (lesson === undefined) return false;
  known.traits = lesson.traits;
  if (lesson.kind === 'again') return true;
  const cause = { kind: 'ability', ability: lesson.ability, status: answer.status } as const;
  throw modelFault('invalid_request', describeAnswer(answer, place), place, { cause });
}

/** What the pace is told of a call that failed: only limits and overload slow it down. */
function outcomeOf(error: unknown): PaceOutcome {
  if (!(error instanceof Fault)) return { kind: 'failed' };
  const cause = error.cause as ModelFaultCause | undefined;
  const isOverload =
    error.code === 'unavailable' && cause?.kind === 'status' && [503, 529].includes(cause.status);
  if (error.code !== 'rate_limited' && !isOverload) return { kind: 'failed' };
  return { kind: 'refused', retryAfterMs: error.retryAfterMs };
}
