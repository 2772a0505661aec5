import type { CheckSpec } from '../domain/check.ts';
import { answerSchema, type Opinion, readOpinion } from '../domain/checks/judge-answer.ts';
import { judgePrompt, verdictTool, type WayOfAsking, waysOfAsking } from '../domain/checks/judge-prompt.ts';
import type { Question } from '../domain/checks/questions.ts';
import { shorten } from '../domain/checks/quote.ts';
import { verdictOn } from '../domain/checks/verdict.ts';
import { Fault } from '../domain/fault.ts';
import type { VoteEvent } from '../domain/journal.ts';
import { isJsonObject } from '../domain/json.ts';
import { stableHash, uniform } from '../domain/random.ts';
import type { ModelSpec } from '../domain/sweep-spec.ts';
import { TemplateError } from '../domain/template.ts';
import { noRoleUsage } from '../domain/usage.ts';
import type { ChatReply, ChatRequest } from './ports.ts';
import type { Scoring, ScoringDependencies } from './score.ts';
import { nextScoringTry, waitWithin } from './scoring-wait.ts';
import type { NewEvent } from './stretch.ts';

export type JudgeCheckSpec = Extract<CheckSpec, { kind: 'judge' }>;

/** One vote that is to be asked for. */
export type Ballot = {
  readonly check: JudgeCheckSpec;
  readonly question: Question;
  readonly model: ModelSpec;
  /** Counted from 1. */
  readonly vote: number;
};

/**
 * Asks for one vote and journals it together with the call that brought it. A judge that stays at fault is journaled
 * as an undecided vote with the fault's code. Returns the milliseconds to wait where the vote must be asked for later.
 */
export async function askForVote(
  ballot: Ballot,
  scoring: Scoring,
  deps: ScoringDependencies,
): Promise<number | undefined> {
  for (let tries = 0, refusals = 0; ; ) {
    if (scoring.leaving()) return 0;
    const said = await hear(ballot, scoring, deps);
    if (said.kind === 'opinion') {
      await scoring.record(...said.events, voteEvent(ballot, said.opinion));
      return undefined;
    }
    if (said.fault.code === 'rate_limited') refusals += 1;
    else tries += 1;
    const next = waitAfter(ballot, said.fault, { tries, refusals });
    if (next.kind === 'final') {
      await scoring.record(
        said.event,
        voteEvent(ballot, { reason: said.fault.message, fault: said.fault.code }),
      );
      return undefined;
    }
    await scoring.record({ ...said.event, wait_ms: next.waitMs } as NewEvent);
    const left = await waitWithin(scoring, next.waitMs, deps.clock);
    if (left !== undefined) return left;
  }
}

type Heard =
  | { readonly kind: 'opinion'; readonly opinion: Opinion; readonly events: readonly NewEvent[] }
  | { readonly kind: 'fault'; readonly fault: Fault; readonly event: NewEvent };

/** One try. */
async function hear(ballot: Ballot, scoring: Scoring, deps: ScoringDependencies): Promise<Heard> {
  await deps.contact.hold(scoring.options.signal);
  const began = deps.clock.now();
  try {
    const reply = await chatInSomeWay(ballot, scoring, deps);
    const opinion = readReply(reply, ballot);
    return { kind: 'opinion', opinion, events: [callEvent(ballot, deps, reply)] };
  } catch (error) {
    if (error instanceof TemplateError) {
      return { kind: 'opinion', opinion: { reason: error.message }, events: [] };
    }
    if (!(error instanceof Fault)) throw error;
    return { kind: 'fault', fault: error, event: faultEvent(ballot, deps, error, deps.clock.now() - began) };
  }
}

/** Asks in the first way that the endpoint can do; a refusal that teaches otherwise leads to the next. */
async function chatInSomeWay(
  ballot: Ballot,
  scoring: Scoring,
  deps: ScoringDependencies,
): Promise<ChatReply> {
  const abilities = deps.models.abilities(ballot.model);
  const able = { schema: abilities.answerSchema, tool: abilities.tools, text: true };
  const ways = waysOfAsking.filter((way) => able[way]);
  for (const way of ways) {
    try {
      return await deps.models.chat(ballot.model, requestFor(ballot, way, deps), scoring.options);
    } catch (error) {
      if (way === 'text' || !isAboutAbility(error)) throw error;
    }
  }
  throw new Error('a judge can always be asked in text');
}

/** Whether an endpoint refused the way of asking, and not the request. */
function isAboutAbility(error: unknown): boolean {
  return error instanceof Fault && isJsonObject(error.cause) && error.cause.kind === 'ability';
}

function requestFor(
  { check, question, vote }: Ballot,
  way: WayOfAsking,
  deps: ScoringDependencies,
): ChatRequest {
  const { system, user } = judgePrompt(check, question.evidence, way, deps.hash);
  const schema = answerSchema(check.answer);
  return {
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    temperature: 0,
    temperatureOptional: true,
    seed:
      stableHash(question.evidence.run.seed, `judge:${check.name}:${question.turn ?? 'end'}`, vote) % 2 ** 31,
    ...(way === 'schema' ? { answerSchema: { name: verdictTool, schema } } : {}),
    ...(way === 'tool' ? { tools: [{ name: verdictTool, schema }], toolChoice: verdictTool } : {}),
  };
}

function readReply(reply: ChatReply, { check }: Ballot): Opinion {
  const args = reply.toolCalls.find(({ name }) => name === verdictTool)?.args;
  const opinion = readOpinion({ text: reply.text, ...(args === undefined ? {} : { args }) }, check.answer);
  if (opinion.score !== undefined) return opinion;
  return {
    reason: `the judge's answer could not be read: ${shorten(args === undefined ? reply.text : JSON.stringify(args))}`,
  };
}

function waitAfter(
  { check, question, vote }: Ballot,
  fault: Fault,
  { tries, refusals }: { readonly tries: number; readonly refusals: number },
) {
  const jitter = uniform(question.evidence.run.seed, `judge wait:${check.name}:${vote}`, tries + refusals);
  return nextScoringTry(fault, { tries, refusals }, jitter);
}

function voteEvent(
  { check, question, vote }: Ballot,
  said: Opinion & { readonly fault?: Fault['code'] },
): Omit<VoteEvent, 'at'> {
  return {
    kind: 'vote',
    check: check.name,
    ...(question.turn === undefined ? {} : { turn: question.turn }),
    vote,
    ...(said.score === undefined ? {} : { score: said.score }),
    verdict: said.score === undefined ? 'undecided' : verdictOn(check, said.score),
    reason: said.reason,
    ...(said.fault === undefined ? {} : { fault: said.fault }),
  };
}

function callEvent(ballot: Ballot, deps: ScoringDependencies, reply: ChatReply): NewEvent {
  const { ms, usage, costUsd } = reply;
  deps.meter.call({ role: 'judge', model: ballot.model.name, code: 'ok', ms, usage, costUsd });
  return eventOf(ballot, 'ok', { ms, usage, costUsd });
}

function faultEvent(ballot: Ballot, deps: ScoringDependencies, fault: Fault, ms: number): NewEvent {
  deps.meter.call({ role: 'judge', model: ballot.model.name, code: fault.code, ms, costUsd: 0 });
  return eventOf(ballot, fault.code, { ms, usage: noRoleUsage, costUsd: 0 });
}

function eventOf(
  { question, model }: Ballot,
  code: 'ok' | Fault['code'],
  { ms, usage, costUsd }: Pick<ChatReply, 'ms' | 'usage' | 'costUsd'>,
): NewEvent {
  return {
    kind: 'call',
    role: 'judge',
    turn: question.turn ?? question.evidence.transcript.at(-1)?.turn ?? 0,
    model: model.name,
    ms,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    estimated: usage.estimated,
    cost_usd: costUsd,
    code,
  };
}
