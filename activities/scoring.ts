import type { Evidence } from '../domain/checks/evidence.ts';
import { turnNumbersOf } from '../domain/checks/numbers.ts';
import { driverOf } from '../domain/given-turns.ts';
import type { StretchEnd } from './run-work.ts';
import { type Scoring, scoreTurn } from './score.ts';
import type { Stretch } from './stretch.ts';

/** What checks may look at: the conversation as it stands. */
export function evidenceOf(stretch: Stretch): Evidence {
  const { run, scenario, target } = stretch.plan;
  const { transcript, session } = stretch.now();
  const { events } = stretch.folded();
  const opened = events.findLastIndex((event) => event.kind === 'opened');
  return {
    scenario,
    run,
    transcript,
    numbers: turnNumbersOf(events.slice(Math.max(0, opened))),
    ...(session.id === undefined ? {} : { sessionId: session.id }),
    ...(target.kind === 'chat' ? { tools: target.tools.map(({ name, schema }) => ({ name, schema })) } : {}),
  };
}

/** All that scoring takes of a stretch. */
export function scoringOf(stretch: Stretch): Scoring {
  const { deps, plan, input, signals, deadline } = stretch;
  return {
    spec: { ...plan.sweep.spec, driver: driverOf(plan.sweep.spec.driver, plan.scenario) },
    evidence: evidenceOf(stretch),
    scored: stretch.now(),
    record: stretch.record,
    options: stretch.callOptions(),
    stop: signals.stop,
    leaving: () => signals.stop.aborted || deps.clock.now() >= deadline,
    longestWaitMs: input.longestWaitMs,
  };
}

/** Asks the checks that are due after a turn: the stop check, and those asked at each turn. */
export async function turnScore(
  stretch: Stretch,
  names: readonly string[],
  turn: number,
): Promise<StretchEnd | undefined> {
  const checks = stretch.plan.sweep.spec.checks.filter((check) => names.includes(check.name));
  const scored = await scoreTurn(checks, turn, scoringOf(stretch), stretch.deps);
  return 'waitMs' in scored ? endOfWait(scored.waitMs) : undefined;
}

/** How a stretch ends that scoring left: at once, or after a wait for a judge's provider. */
export function endOfWait(
  waitMs: number,
): { readonly kind: 'stopped' } | { readonly kind: 'wait'; readonly waitMs: number } {
  return waitMs === 0 ? { kind: 'stopped' } : { kind: 'wait', waitMs };
}
