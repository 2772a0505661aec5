import type { ServerResponse } from 'node:http';
import type { Role } from '../domain/usage.ts';
import { type Answer, limitAnswer, type Payload, payloadOf, tokensOf } from './answer.ts';
import { shareOf } from './choice.ts';
import { driverAnswer, plainText } from './driver.ts';
import { type FaultKind, faultOf, type Refusal, refusals } from './faults.ts';
import { judgeAnswer } from './judge.ts';
import type { Inability, Practice, PracticeOptions } from './options.ts';
import {
  conversationOf,
  disorderOf,
  isProbe,
  type PracticeRequest,
  parseRequest,
  roleOf,
  textsOf,
} from './request.ts';
import { sendError, sendHalf, sendJson, sendPayload, sendSlowly } from './send.ts';
import type { CallCount } from './stats.ts';
import { targetAnswer } from './target.ts';

const defaultLatencyMs = 200;
const hugeTextBytes = 5_000_000;

/** A request's body and a hash of it, which stands for its content wherever chance is asked. */
export type Incoming = { readonly body: string; readonly hash: string };

/** Answers one chat completion request, with a fault where chance says so; 400 where the body is none. */
export function completeChat(practice: Practice, incoming: Incoming, response: ServerResponse): void {
  const request = acceptRequest(practice, incoming, response);
  if (request === undefined) return;
  if (isProbe(request)) {
    practice.tally.probe();
    sendPayload(response, payloadOf({ kind: 'text', text: 'OK' }, request, incoming.hash));
    return;
  }
  const { options, tally } = practice;
  const role = roleOf(request);
  const conversation = role === 'judge' ? undefined : conversationOf(request, role);
  const count = tally.start({
    role,
    model: request.model,
    content: incoming.hash,
    ...(conversation !== undefined && { conversation }),
  });
  response.once('close', count.left);
  const draw = { seed: options.seed ?? 0, role, call: count.call, content: incoming.hash, time: count.time };
  const fault = faultOf(options.faults ?? {}, draw);
  const arrived = { request, role, content: incoming.hash, response };
  options.onCall?.(conversation, fault === undefined ? arrived : { ...arrived, fault });
  const call = { request, role, count, incoming };
  if (fault === undefined) deliver(options, call, response);
  else fail(options, call, response, fault);
}

/** The request, unless it was answered with a refusal. */
function acceptRequest(
  { options, tally }: Practice,
  incoming: Incoming,
  response: ServerResponse,
): PracticeRequest | undefined {
  try {
    const request = parseRequest(incoming.body);
    if (!rejects(options, request, response)) return request;
  } catch (error) {
    sendError(response, 400, 'invalid_request_error', error instanceof Error ? error.message : String(error));
  }
  tally.reject();
  return undefined;
}

type Call = {
  readonly request: PracticeRequest;
  readonly role: Role;
  readonly count: CallCount;
  readonly incoming: Incoming;
};

function deliver(options: PracticeOptions, call: Call, response: ServerResponse): void {
  later(response, latencyOf(options, call), () => {
    const answer = answerOf(call, options.seed ?? 0);
    call.count.answered(kindOf(answer, call.request));
    options.onAnswer?.(tokensOf(answer, call.request));
    sendPayload(response, payloadOf(answer, call.request, call.incoming.hash));
  });
}

function fail(options: PracticeOptions, call: Call, response: ServerResponse, fault: FaultKind): void {
  const { request, count, incoming } = call;
  count.fault(fault);
  if (fault === 'hang') return;
  const refusal = refusals[fault];
  if (refusal !== undefined) {
    count.done();
    sendRefusal(response, refusal, options.faults?.retryAfterS);
    return;
  }
  later(response, latencyOf(options, call), () => {
    count.done();
    if (fault === 'drop') response.destroy();
    else
      sendFaulty(
        response,
        payloadOf(faultyAnswer(fault, call, options), request, incoming.hash),
        fault,
        options,
      );
  });
}

function sendRefusal(response: ServerResponse, refusal: Refusal, retryAfterS = 1): void {
  const headers: Record<string, string> =
    refusal.code === 'rate_limit_exceeded' ? { 'retry-after': String(retryAfterS) } : {};
  sendError(response, refusal.status, refusal.type, refusal.message, { code: refusal.code, headers });
}

function sendFaulty(
  response: ServerResponse,
  payload: Payload,
  fault: FaultKind,
  options: PracticeOptions,
): void {
  if (fault === 'slowBody') sendSlowly(response, payload, options.faults?.slowBodyMs);
  else if (fault === 'cut') sendHalf(response, payload);
  else if (fault === 'malformed')
    sendPayload(response, { ...payload, text: payload.text.slice(0, payload.text.length / 2) });
  else if (fault === 'hollow') sendJson(response, 200, { object: 'chat.completion', choices: [] });
  else sendPayload(response, payload);
}

/** What is said where the words themselves are at fault; else what would have been said. */
function faultyAnswer(fault: FaultKind, call: Call, options: PracticeOptions): Answer {
  if (fault === 'empty') return { kind: 'text', text: '' };
  if (fault === 'huge') return { kind: 'text', text: 'much '.repeat(hugeTextBytes / 5) };
  return answerOf(call, options.seed ?? 0);
}

function answerOf({ request, role }: Call, seed: number): Answer {
  if (role === 'judge') return judgeAnswer(request);
  const isPlain = request.model.includes('plain');
  if (isPlain)
    return limitAnswer({ kind: 'text', text: plainText(textsOf(request, 'assistant').length + 1) }, request);
  return limitAnswer(role === 'driver' ? driverAnswer(request, seed) : targetAnswer(request), request);
}

function kindOf(answer: Answer, request: PracticeRequest): string {
  if (request.stream) return 'stream';
  return request.schema === undefined ? answer.kind : 'schema';
}

function latencyOf(
  { latencyMs = defaultLatencyMs, jitterMs = 0, seed = 0 }: PracticeOptions,
  { count, incoming }: Call,
): number {
  return latencyMs + jitterMs * (jitterMs === 0 ? 0 : shareOf(seed, 'latency', incoming.hash, count.time));
}

/** Does something after a while, unless the client has left. */
function later(response: ServerResponse, ms: number, act: () => void): void {
  const timer = setTimeout(act, ms);
  response.once('close', () => clearTimeout(timer));
}

function rejects(options: PracticeOptions, request: PracticeRequest, response: ServerResponse): boolean {
  const type = 'invalid_request_error';
  if (options.models !== undefined && !options.models.includes(request.model)) {
    sendError(response, 404, type, `The model '${request.model}' does not exist.`, {
      code: 'model_not_found',
      param: 'model',
    });
    return true;
  }
  const refused = (options.refuses ?? []).find((inability) => asksFor(request, inability));
  if (refused === undefined) return false;
  const message = refused === 'disorder' ? (disorderOf(request) ?? '') : unsupported(parameters[refused]);
  const details =
    refused === 'disorder'
      ? { param: 'messages' }
      : { param: parameters[refused], code: 'unsupported_parameter' };
  sendError(response, 400, type, message, details);
  return true;
}

const parameters: Readonly<Record<Exclude<Inability, 'disorder'>, string>> = {
  tools: 'tools',
  tool_choice: 'tool_choice',
  schema: 'response_format',
  temperature: 'temperature',
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_completion_tokens',
  seed: 'seed',
};

function asksFor(request: PracticeRequest, inability: Inability): boolean {
  if (inability === 'disorder') return disorderOf(request) !== undefined;
  return request.keys.includes(parameters[inability]);
}

function unsupported(parameter: string): string {
  const instead = { max_tokens: 'max_completion_tokens', max_completion_tokens: 'max_tokens' }[parameter];
  const hint = instead === undefined ? '' : ` Use '${instead}' instead.`;
  return `Unsupported parameter: '${parameter}' is not supported with this model.${hint}`;
}
