import { checksFor } from '../domain/checks/questions.ts';
import { type ConversationRules, nextStep } from '../domain/conversation.ts';
import { drivingModelOf } from '../domain/faithful.ts';
import { Fault } from '../domain/fault.ts';
import type { FoldedJournal } from '../domain/journal.ts';
import { driverTurn, scriptedTurn } from './driver-turn.ts';
import { settleFault } from './fault-policy.ts';
import { openConversation } from './opening.ts';
import type { Target } from './ports.ts';
import type { StretchEnd } from './run-work.ts';
import { turnScore } from './scoring.ts';
import type { Stretch } from './stretch.ts';
import { startSession, targetTurn } from './target-turn.ts';

/** Resumptions in a row without a new event, after which a run is broken: something kills whoever plays it. */
const fruitlessResumptions = 5;

/**
 * Plays a conversation on from where its journal stands. Returns undefined when it is over (ended or broken), else
 * why it was left.
 */
export async function playStretch(stretch: Stretch): Promise<StretchEnd | undefined> {
  const { target: spec } = stretch.plan;
  const target = spec.kind === 'chat' ? undefined : stretch.deps.targets.open(spec);
  const rules = rulesOf(stretch, target);
  await beginGeneration(stretch);
  for (;;) {
    const now = stretch.now();
    if (now.ending !== undefined || now.broken !== undefined) return undefined;
    if (stretch.signals.stop.aborted) return { kind: 'stopped' };
    if (stretch.deps.clock.now() >= stretch.deadline) return { kind: 'spent' };
    const left = await takeStep(stretch, target, rules);
    if (left !== undefined) return left;
  }
}

/** Opens the conversation, or begins the generation that was asked for; a run that kills its workers is given up. */
async function beginGeneration(stretch: Stretch): Promise<void> {
  const { generation } = stretch.now();
  if (generation < stretch.input.generation) {
    const because = generation === 0 ? {} : ({ because: 'retry' } as const);
    await openConversation(stretch, { generation: stretch.input.generation, ...because });
  } else if (fruitless(stretch.folded()) >= fruitlessResumptions) {
    const message = `${fruitlessResumptions} workers in a row were lost while they played this run`;
    await settleFault(stretch, 'target', new Fault('worker_lost', message, { blame: 'infrastructure' }));
  }
}

/** How many resumptions in a row, before this one, added nothing. */
function fruitless(journal: FoldedJournal): number {
  const { events } = journal;
  const lastEvent = events.findLastIndex((event) => event.kind !== 'resumed');
  return events.length - 1 - lastEvent;
}

function rulesOf(stretch: Stretch, target: Target | undefined): ConversationRules {
  const { spec } = stretch.plan.sweep;
  const stop = spec.conversation.stop?.check;
  const asked = spec.checks.filter((check) => check.at === 'each_turn' || check.name === stop);
  return {
    conversation: spec.conversation,
    driver: spec.driver,
    sessions: target?.sessions ?? false,
    turnChecks: checksFor(asked, stretch.plan.scenario).map((check) => check.name),
    runMs: spec.timeouts.runMs,
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
      return targetTurn(stretch, target, 0);
    case 'drive': {
      const driver = drivingModelOf(rules.driver);
      if (driver === undefined) throw new Error('a script without a model cannot drive');
      return driverTurn(stretch, driver, step.turn);
    }
    case 'say':
      await scriptedTurn(stretch, step.turn, step.step);
      return undefined;
    case 'reply': {
      const left = await targetTurn(stretch, target, step.turn);
      if (left === undefined) stretch.deps.meter.turn();
      return left;
    }
    case 'check':
      return turnScore(stretch, rules.turnChecks, step.turn);
    case 'end':
      await stretch.record({ kind: 'ended', ending: step.ending });
      return undefined;
  }
}
