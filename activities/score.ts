import type { CheckResult, CheckSpec } from '../domain/check.ts';
import { completedTurns, type Evidence, evidenceAt, evidenceUpTo } from '../domain/checks/evidence.ts';
import { judgeHash } from '../domain/checks/judge-prompt.ts';
import { checksFor, plainResult, type Question, questionsOf, resultOf } from '../domain/checks/questions.ts';
import { evaluateCheck } from '../domain/checks/rule.ts';
import type { CheckAnswer } from '../domain/checks/verdict.ts';
import { combineVotes } from '../domain/checks/votes.ts';
import type { Conversation } from '../domain/conversation.ts';
import { faithfulCheckOf } from '../domain/faithful.ts';
import type { FaultCode } from '../domain/fault.ts';
import type { VoteEvent } from '../domain/journal.ts';
import type { SweepSpec } from '../domain/sweep-spec.ts';
import { askCode } from './code-check.ts';
import { askForVote, type Ballot, type JudgeCheckSpec } from './judge.ts';
import type { CallOptions, Dependencies } from './ports.ts';
import type { NewEvent } from './stretch.ts';

/** Everything that scoring one run takes. */
export type Scoring = {
  readonly spec: Pick<SweepSpec, 'checks' | 'models' | 'driver'>;
  readonly evidence: Evidence;
  /** What the journal holds of earlier scoring: it is not asked, nor paid for, again. */
  readonly scored: Pick<Conversation, 'votes' | 'turnChecks' | 'checks'>;
  /** Makes events durable. */
  readonly record: (...events: readonly NewEvent[]) => Promise<void>;
  readonly options: CallOptions;
  /** Whether to return as soon as what is in flight has been journaled: a drain, a pause, a spent stretch. */
  readonly leaving: () => boolean;
  /** Longer waits for a judge's provider are left to the caller, in milliseconds. */
  readonly longestWaitMs: number;
};

export type ScoringDependencies = Pick<
  Dependencies,
  'clock' | 'models' | 'modules' | 'compileRegex' | 'hash' | 'meter' | 'contact'
>;

/** The results, or how long to wait before scoring goes on (0: at once, in another stretch). */
export type Scored = { readonly results: readonly CheckResult[] } | { readonly waitMs: number };

/** Judge calls, and code checks, of one run that are in flight at once. */
const inFlight = 4;

/**
 * Scores a run: its checks in the order of the spec, then the judge of the driver where there is one (under the name
 * `faithful`). Each vote is journaled as it comes, each result at the end. A fault of a judge or of code leaves its
 * check undecided. Throws `store_unavailable`, and the signal's reason when aborted.
 */
export async function scoreRun(scoring: Scoring, deps: ScoringDependencies): Promise<Scored> {
  const { spec, evidence, scored } = scoring;
  const faithful = faithfulCheckOf(spec.driver);
  const checks = [
    ...checksFor(spec.checks, evidence.scenario),
    ...(faithful === undefined ? [] : [faithful]),
  ];
  const open = checks.filter((check) => !scored.checks.some((result) => result.check === check.name));
  const asked = open.map((check) => ({ check, questions: questionsOf(check, evidence) }));
  const answers = await answerAll(
    asked.flatMap(({ questions }) => questions),
    scoring,
    deps,
  );
  if (typeof answers === 'number') return { waitMs: answers };
  const fresh = asked.map(({ check, questions }) =>
    resultOf(
      check,
      questions.map((question) => ({ ...question, answer: answerOf(question, answers) })),
      hashOf(check, scoring, deps),
    ),
  );
  if (fresh.length > 0) await scoring.record(...fresh.map((result) => ({ kind: 'check', result }) as const));
  return {
    results: checks.flatMap((check) =>
      [...scored.checks, ...fresh].filter(({ check: name }) => name === check.name).slice(0, 1),
    ),
  };
}

/**
 * Asks checks right after a turn and journals their results under it: those asked at each turn of that turn, the
 * others (a stop check) of the conversation as it stands. Throws as `scoreRun` does.
 */
export async function scoreTurn(
  checks: readonly CheckSpec[],
  turn: number,
  scoring: Scoring,
  deps: ScoringDependencies,
): Promise<Scored> {
  const earlier = scoring.scored.turnChecks[turn] ?? [];
  const open = checks.filter((check) => !earlier.some((result) => result.check === check.name));
  const questions = open.map((check) => ({
    check,
    turn,
    evidence: evidenceAfter(check, scoring.evidence, turn),
  }));
  const answers = await answerAll(questions, scoring, deps);
  if (typeof answers === 'number') return { waitMs: answers };
  const fresh = questions.map((question) => {
    const hash = hashOf(question.check, scoring, deps);
    const result = plainResult(question.check, answerOf(question, answers));
    return hash === undefined ? result : { ...result, judgeHash: hash };
  });
  if (fresh.length > 0)
    await scoring.record(...fresh.map((result) => ({ kind: 'check', turn, result }) as const));
  return { results: [...earlier, ...fresh] };
}

function evidenceAfter(check: CheckSpec, evidence: Evidence, turn: number): Evidence {
  return check.at === 'each_turn' ? evidenceAt(evidence, turn) : evidenceUpTo(evidence, turn);
}

type Answers = ReadonlyMap<Question, CheckAnswer>;

function answerOf(question: Question, answers: Answers): CheckAnswer {
  const answer = answers.get(question);
  if (answer === undefined) throw new Error(`check ${question.check.name} was not answered`);
  return answer;
}

/** All answers, or how long to wait before asking on. */
async function answerAll(
  questions: readonly Question[],
  scoring: Scoring,
  deps: ScoringDependencies,
): Promise<Answers | number> {
  const answers = new Map<Question, CheckAnswer>();
  const votes: VoteEvent[] = [...scoring.scored.votes];
  const jobs: Job[] = [];
  for (const question of questions) {
    const { check } = question;
    const journaled = journaledAnswer(question, scoring);
    if (journaled !== undefined) answers.set(question, journaled);
    else if (check.kind === 'code') {
      jobs.push(async () => {
        if (scoring.leaving()) return 0;
        answers.set(question, await askCode(check, question, scoring.options, deps.modules));
        return undefined;
      });
    } else if (check.kind === 'judge') {
      const ballots = missingBallots(check, question, scoring, votes);
      jobs.push(...ballots.map((ballot) => () => askForVote(ballot, withVotes(scoring, votes), deps)));
    } else answers.set(question, evaluateCheck(check, question.evidence, deps.compileRegex));
  }
  const waitMs = await runJobs(jobs);
  if (waitMs !== undefined) return waitMs;
  for (const question of questions) {
    if (question.check.kind === 'judge' && !answers.has(question)) {
      answers.set(question, combineVotes(question.check, votesOn(question, votes)));
    }
  }
  return answers;
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

function modelOf(check: JudgeCheckSpec, { spec }: Scoring) {
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

function hashOf(check: CheckSpec, scoring: Scoring, deps: ScoringDependencies): string | undefined {
  return check.kind === 'judge' ? judgeHash(check, modelOf(check, scoring), deps.hash) : undefined;
}

/** Resolves to the milliseconds after which it must be done again, or undefined when it is done. */
type Job = () => Promise<number | undefined>;

/** Runs jobs, a few at once. None is begun after one failed or has to wait; those in flight are always seen to their end. */
async function runJobs(jobs: readonly Job[]): Promise<number | undefined> {
  const queue = [...jobs];
  const waits: number[] = [];
  const work = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      try {
        const waitMs = await job();
        if (waitMs === undefined) continue;
        waits.push(waitMs);
      } finally {
        if (waits.length > 0) queue.length = 0;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: inFlight }, work));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return waits.length === 0 ? undefined : Math.max(...waits);
}
