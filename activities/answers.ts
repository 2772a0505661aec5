import { completedTurns, messagesAsked } from '../domain/checks/evidence.ts';
import type { Question } from '../domain/checks/questions.ts';
import { evaluateCheck } from '../domain/checks/rule.ts';
import { lackOfArgs } from '../domain/checks/tool-calls.ts';
import { type CheckAnswer, decide } from '../domain/checks/verdict.ts';
import { combineVotes } from '../domain/checks/votes.ts';
import type { FaultCode } from '../domain/fault.ts';
import type { VoteEvent } from '../domain/journal.ts';
import type { ModelSpec } from '../domain/sweep-spec.ts';
import { toolCallsOf } from '../domain/transcript.ts';
import { askCode } from './code-check.ts';
import { type Job, runJobs } from './jobs.ts';
import { askForVote, type Ballot, type JudgeCheckSpec } from './judge.ts';
import type { Scoring, ScoringDependencies } from './score.ts';

/** Judge calls, and code checks, of one run that are in flight at once. */
const inFlight = 4;

/** The answers to questions; judges' and code's are there once they are given. */
export type Answers = ReadonlyMap<Question, CheckAnswer>;

/** The answer to a question that was asked. */
export function answerOf(question: Question, answers: Answers): CheckAnswer {
  const answer = answers.get(question);
  if (answer === undefined) throw new Error(`check ${question.check.name} was not answered`);
  return answer;
}

/** All answers, or how long to wait before asking on. */
export async function answerAll(
  questions: readonly Question[],
  scoring: Scoring,
  deps: ScoringDependencies,
): Promise<Answers | number> {
  const answers = new Map<Question, CheckAnswer>();
  const votes: VoteEvent[] = [...scoring.scored.votes];
  const remembering = withVotes(scoring, votes);
  const jobs: Job[] = [];
  for (const question of questions) {
    const { check } = question;
    const journaled = journaledAnswer(question, scoring) ?? failedUnasked(question);
    if (journaled !== undefined) answers.set(question, journaled);
    else if (check.kind === 'code') {
      jobs.push(async () => {
        const answer = await askCode(check, question, scoring, deps);
        if (typeof answer === 'number') return answer;
        answers.set(question, answer);
        return undefined;
      });
    } else if (check.kind === 'judge') {
      const ballots = missingBallots(check, question, scoring, votes);
      jobs.push(...ballots.map((ballot) => () => askForVote(ballot, remembering, deps)));
    } else answers.set(question, evaluateCheck(check, question.evidence, deps.compileRegex));
  }
  const waitMs = await runJobs(jobs, inFlight);
  if (waitMs !== undefined) return waitMs;
  for (const question of questions) {
    if (question.check.kind === 'judge' && !answers.has(question)) {
      answers.set(question, combineVotes(question.check, votesOn(question, votes)));
    }
  }
  return answers;
}

/** A judge of a tool's arguments is not asked where there are none. */
function failedUnasked({ check, evidence }: Question): CheckAnswer | undefined {
  if (check.kind !== 'judge' || check.tool === undefined) return undefined;
  const lack = lackOfArgs(toolCallsOf(messagesAsked(evidence)), check.tool);
  return lack === undefined ? undefined : decide(check, lack);
}

/** Remembers the votes that are journaled on the way. */
function withVotes(scoring: Scoring, votes: VoteEvent[]): Scoring {
  return {
    ...scoring,
    async record(...events) {
      await scoring.record(...events);
      for (const event of events) if (event.kind === 'vote') votes.push(event);
    },
  };
}

function votesOn({ check, turn }: Question, votes: readonly VoteEvent[]): readonly VoteEvent[] {
  return votes.filter((vote) => vote.check === check.name && vote.turn === turn);
}

function missingBallots(
  check: JudgeCheckSpec,
  question: Question,
  scoring: Scoring,
  votes: readonly VoteEvent[],
): readonly Ballot[] {
  const model = modelOf(check, scoring);
  const cast = votesOn(question, votes);
  return Array.from({ length: check.votes }, (_, index) => index + 1)
    .filter((vote) => !cast.some((event) => event.vote === vote))
    .map((vote) => ({ check, question, model, vote }));
}

/** The model of a judge. Throws where the sweep has none of that name (a bug: plans are checked). */
export function modelOf(check: JudgeCheckSpec, { spec }: Scoring): ModelSpec {
  const model = spec.models[check.model];
  if (model === undefined) throw new Error(`check ${check.name}: there is no model ${check.model}`);
  return model;
}

/**
 * What the journal says already: of a turn, or, for a stop check that was decided after the last turn, of the whole
 * conversation, which has not changed since.
 */
function journaledAnswer({ check, turn, evidence }: Question, { scored }: Scoring): CheckAnswer | undefined {
  const at =
    turn ??
    (evidence.transcript.at(-1)?.by === 'target' ? completedTurns(evidence.transcript).at(-1) : undefined);
  const result =
    at === undefined ? undefined : scored.turnChecks[at]?.find(({ check: name }) => name === check.name);
  if (result === undefined || (turn === undefined && result.verdict === 'undecided')) return undefined;
  const { verdict, score, reason, faultCode } = result;
  return {
    verdict,
    reason,
    ...(score === undefined ? {} : { score }),
    ...(faultCode === undefined ? {} : { faultCode: faultCode as FaultCode }),
  };
}
