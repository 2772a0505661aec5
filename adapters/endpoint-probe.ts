import type { CallOptions, ChatModels, Clock } from '../activities/ports.ts';
import { Fault, isConfigurationCode } from '../domain/fault.ts';
import type { ModelSpec } from '../domain/sweep-spec.ts';
import type { ModelFaultCause } from './chat-model/failure.ts';

export type ProbeOptions = {
  readonly chat: ChatModels['chat'];
  readonly clock: Clock;
  /** How long a server may be loading; default 5 min. */
  readonly loadingMs?: number;
};

export type ProbeResult = {
  /** The endpoint did not answer as it should, which may be over when it is needed. */
  readonly warning?: string;
  /** Calls that were made: counted apart from those of a sweep. */
  readonly calls: number;
};

const fiveMinutesMs = 300_000;
const firstPauseMs = 1_000;
const longestPauseMs = 10_000;

/**
 * Asks a model's endpoint for at most 16 tokens. Any answer with status 200 is alive, and so is one that ends a
 * conversation. A server that refuses connections or answers 503 may still be loading: it is asked again for
 * five minutes. Throws `Fault` where no run could be played (denied, not_found, invalid_request), and the signal's
 * reason.
 */
export async function probeEndpoint(
  model: ModelSpec,
  call: CallOptions,
  { chat, clock, loadingMs = fiveMinutesMs }: ProbeOptions,
): Promise<ProbeResult> {
  const until = clock.now() + loadingMs;
  let pauseMs = firstPauseMs;
  for (let calls = 1; ; calls++) {
    const fault = await ask(chat, model, call);
    if (fault === undefined || isAlive(fault)) return { calls };
    if (isConfigurationCode(fault.code)) throw fault;
    const waitMs = Math.min(longestPauseMs, fault.retryAfterMs ?? pauseMs);
    if (!isLoading(fault) || clock.now() + waitMs > until) return { warning: fault.message, calls };
    await clock.sleep(waitMs, call.signal);
    pauseMs *= 2;
  }
}

async function ask(
  chat: ChatModels['chat'],
  model: ModelSpec,
  call: CallOptions,
): Promise<Fault | undefined> {
  try {
    await chat(model, { messages: [{ role: 'user', content: 'Say OK.' }], maxTokens: 16 }, call);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

function isAlive(fault: Fault): boolean {
  const cause = causeOf(fault);
  const isAnswered = cause?.kind === 'status' && cause.status >= 200 && cause.status < 300;
  const isEnding = ['context_full', 'content_refused', 'too_large'].includes(fault.code);
  return isAnswered || isEnding || cause?.kind === 'cut_short';
}

function isLoading(fault: Fault): boolean {
  const cause = causeOf(fault);
  if (fault.code !== 'unavailable' || cause === undefined) return false;
  if (cause.kind === 'status') return cause.status === 503;
  return cause.kind === 'connection' && cause.code === 'ECONNREFUSED';
}

function causeOf(fault: Fault): ModelFaultCause | undefined {
  return fault.cause as ModelFaultCause | undefined;
}
