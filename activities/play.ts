import type { CheckSpec } from '../domain/check.ts';
import { checksFor } from '../domain/checks/questions.ts';
import { drivingModelOf } from '../domain/faithful.ts';
import { Fault } from '../domain/fault.ts';
import { conversationOf, driverOf } from '../domain/given-turns.ts';
import { type ConversationRules, checksAfter, nextStep } from '../domain/next-step.ts';
import { chatStep } from './chat-target.ts';
import { driverTurn, scriptedTurn } from './driver-turn.ts';
import { settleFault } from './fault-policy.ts';
import { openConversation } from './opening.ts';
import type { Target } from './ports.ts';
import type { StretchEnd } from './run-work.ts';
import { turnScore } from './scoring.ts';
import { startSession } from './session.ts';
import type { Stretch } from './stretch.ts';
import { targetTurn } from './target-turn.ts';

/** Lost workers in a row with whom a run got no further, after which it is broken: something kills whoever plays it. */
const mostFruitless = 5;

/**
 * Plays a conversation on from where its journal stands. Returns undefined when it is over (ended or broken), else
 * why it was left.
 */
export async function playStretch(stretch: Stretch): Promise<StretchEnd | undefined> {
  const { target: spec } = stretch.plan;
  const target = spec.kind === 'chat' ? undefined : stretch.deps.targets.open(spec);
  const rules = rulesOf(stretch, target);
  await beginGeneration(stretch);
  for (let steps = 0; ; steps += 1) {
    const now = stretch.now();
    if (now.ending !== undefined || now.broken !== undefined) return undefined;
    if (stretch.signals.stop.aborted) return { kind: 'stopped' };
    // However short it is, a stretch takes a step: each would be spent by opening the journal else.
    if (steps > 0 && stretch.deps.clock.now() >= stretch.deadline) return { kind: 'spent' };
    const left = await takeStep(stretch, target, rules);
    if (left !== undefined) return left;
  }
}

/** Opens the conversation, or begins the generation that was asked for; a run that kills its workers is given up. */
async function beginGeneration(stretch: Stretch): Promise<void> {
  const { generation, fruitless } = stretch.now();
  if (generation < stretch.input.generation) {
    const because = generation === 0 ? {} : ({ because: 'retry' } as const);
    await openConversation(stretch, { generation: stretch.input.generation, ...because });
  } else if (fruitless > mostFruitless) {
    const message = `${mostFruitless} workers in a row were lost while they played this run`;
    await settleFault(stretch, 'target', new Fault('worker_lost', message, { blame: 'infrastructure' }));
  }
}

function rulesOf(stretch: Stretch, target: Target | undefined): ConversationRules {
  const { scenario, sweep } = stretch.plan;
  const { checks, driver, timeouts } = sweep.spec;
  const conversation = conversationOf(sweep.spec, scenario);
  const asked = checksFor(checks, scenario);
  const isAfterTurns = (check: CheckSpec) =>
    check.at === 'each_turn' || check.name === conversation.stop?.check;
  const names = (some: readonly CheckSpec[]) => some.map(({ name }) => name);
  const ofTurns = Map.groupBy(
    scenario.onTurnFail === 'stop' ? asked.filter((check) => typeof check.at === 'number') : [],
    ({ at }) => at,
  );
  return {
    conversation,
    driver: driverOf(driver, scenario),
    sessions: target?.sessions ?? false,
    turnChecks: names(asked.filter(isAfterTurns)),
    lastTurnOnFail: Object.fromEntries([...ofTurns].map(([turn, some]) => [turn, names(some)])),
    runMs: timeouts.runMs,
  };
}

async function takeStep(
  stretch: Stretch,
  target: Target | undefined,
  rules: ConversationRules,
): Promise<StretchEnd | undefined> {
  const step = nextStep(stretch.now(), rules);
  switch (step.kind) {
    case 'start_session':
      return target === undefined ? undefined : startSession(stretch, target);
    case 'greet':
      return replyTurn(stretch, target, 0);
    case 'drive': {
      const driver = drivingModelOf(rules.driver);
      if (driver === undefined) throw new Error('a script without a model cannot drive');
      return driverTurn(stretch, driver, step.turn);
    }
    case 'say':
      await scriptedTurn(stretch, step.turn, step.step);
      return undefined;
    case 'reply': {
      const left = await replyTurn(stretch, target, step.turn);
      if (stretch.now().transcript.at(-1)?.by === 'target') stretch.deps.meter.turn(stretch.plan.sweep.id);
      return left;
    }
    case 'check':
      return turnScore(stretch, checksAfter(rules, step.turn), step.turn);
    case 'end':
      await stretch.record({ kind: 'ended', ending: step.ending });
      return undefined;
  }
}

function replyTurn(
  stretch: Stretch,
  target: Target | undefined,
  turn: number,
): Promise<StretchEnd | undefined> {
  const { target: spec } = stretch.plan;
  if (spec.kind === 'chat') return chatStep(stretch, spec, turn);
  if (target === undefined) throw new Error(`no adapter for target kind ${spec.kind}`);
  return targetTurn(stretch, target, turn);
}
