import type { ChatReply, ChatRequest } from '../../activities/ports.ts';
import type { Scoring, ScoringDependencies } from '../../activities/score.ts';
import type { NewEvent } from '../../activities/stretch.ts';
import { sha256 } from '../../adapters/hash.ts';
import { compileRegex } from '../../adapters/regex.ts';
import { unopened } from '../../domain/conversation.ts';
import { Fault, type FaultCode } from '../../domain/fault.ts';
import type { Json } from '../../domain/json.ts';
import { evidenceOf } from '../domain/checks/builders.ts';

/** What a scripted judge does with a request: answers with a text, or throws. */
export type Script = (request: ChatRequest, call: number) => string | Error | Promise<string>;

/** A judge that was asked, and what it was asked. */
export type Judges = ScoringDependencies['models'] & { readonly asked: ChatRequest[] };

/** Judges that answer from a script; their endpoint knows JSON schemas and tools unless said otherwise. */
export function judges(script: Script, abilities = { tools: true, answerSchema: true }): Judges {
  const asked: ChatRequest[] = [];
  return {
    asked,
    abilities: () => abilities,
    async chat(_model, request, { signal }): Promise<ChatReply> {
      signal.throwIfAborted();
      asked.push(request);
      const said = await script(request, asked.length);
      if (said instanceof Error) throw said;
      const usage = { inputTokens: 100, outputTokens: 10, estimated: false };
      return { text: said, toolCalls: [], usage, costUsd: 0.01, ms: 5, dropped: [] };
    },
  };
}

export function aFault(code: FaultCode, retryAfterMs?: number): Fault {
  return new Fault(code, `scripted ${code}`, {
    blame: 'infrastructure',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** A refusal that teaches what the endpoint cannot do. */
export function cannot(): Fault {
  return new Fault('invalid_request', 'not supported here', {
    blame: 'configuration',
    cause: { kind: 'ability' },
  });
}

/** Dependencies of scoring around scripted judges; the clock does not wait, and remembers how long it was to. */
export function dependencies(
  models: Judges,
  code: (name: string, input: Json) => Json | undefined = () => true,
) {
  const slept: number[] = [];
  const metered: string[] = [];
  const deps: ScoringDependencies = {
    models,
    compileRegex,
    hash: sha256,
    clock: {
      now: () => 1_000,
      async sleep(ms) {
        slept.push(ms);
      },
    },
    contact: { hold: async () => undefined, mayCall: () => true },
    modules: { call: async (_module, name, input) => code(name, input), prove: async () => undefined },
    meter: {
      call: (record) => metered.push(`${record.role} ${record.model} ${record.code}`),
      turn: () => undefined,
      runOpened: () => undefined,
      runLeft: () => undefined,
      runEnded: () => undefined,
    },
  };
  return { deps, slept, metered };
}

const model = {
  name: 'm',
  model: 'judge-1',
  baseUrl: 'http://localhost',
  headers: {},
  params: {},
  maxInFlight: 8,
};

/** A scoring of a conversation of two turns. `events` is what was journaled. */
export function aScoring(more: Partial<Scoring> = {}) {
  const events: NewEvent[] = [];
  const scoring: Scoring = {
    spec: { checks: [], models: { m: model }, driver: { kind: 'none' } },
    evidence: evidenceOf(['one moment', 'you are refunded']),
    scored: unopened,
    record: async (...fresh) => {
      events.push(...fresh);
    },
    options: { signal: new AbortController().signal, timeoutMs: 1_000, order: 0 },
    leaving: () => false,
    stop: new AbortController().signal,
    longestWaitMs: 60_000,
    ...more,
  };
  return { scoring, events };
}

/** The scoring with other checks. */
export function withChecks(checks: Scoring['spec']['checks'], more: Partial<Scoring> = {}) {
  const { scoring, events } = aScoring(more);
  return { scoring: { ...scoring, spec: { ...scoring.spec, checks } }, events };
}
