import type { CheckResult, CheckSpec } from '../domain/check.ts';
import { type Evidence, evidenceAt, evidenceUpTo } from '../domain/checks/evidence.ts';
import { judgeHash } from '../domain/checks/judge-prompt.ts';
import { checksFor, plainResult, questionsOf, resultOf } from '../domain/checks/questions.ts';
import type { Conversation } from '../domain/conversation.ts';
import { faithfulCheckOf } from '../domain/faithful.ts';
import type { SweepSpec } from '../domain/sweep-spec.ts';
import { answerAll, answerOf, modelOf } from './answers.ts';
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
  /** Ends a wait between tries. */
  readonly stop: AbortSignal;
  /** Longer waits for a judge's provider are left to the caller, in milliseconds. */
  readonly longestWaitMs: number;
};

export type ScoringDependencies = Pick<
  Dependencies,
  'clock' | 'modules' | 'compileRegex' | 'hash' | 'meter' | 'contact'
> & { readonly models: Pick<Dependencies['models'], 'chat' | 'abilities'> };

/** The results, or how long to wait before scoring goes on (0: at once, in another stretch). */
export type Scored = { readonly results: readonly CheckResult[] } | { readonly waitMs: number };

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
  return check.at === 'each_turn' || check.at === turn
    ? evidenceAt(evidence, turn)
    : evidenceUpTo(evidence, turn);
}

function hashOf(check: CheckSpec, scoring: Scoring, deps: ScoringDependencies): string | undefined {
  return check.kind === 'judge' ? judgeHash(check, modelOf(check, scoring), deps.hash) : undefined;
}
