import type { Outcome } from '../../domain/outcome.ts';
import type { RunResult } from '../../domain/run.ts';
import type { PlayedRun } from '../../domain/sample.ts';
import { noUsage } from '../../domain/usage.ts';

export type RunFacts = Partial<Omit<RunResult, 'outcome'>> & { readonly outcome: Outcome | 'absent' };

/** A played run of the scenario `s`, unless it is said to be of another. */
export function aRun({ outcome, ...facts }: RunFacts, index = 0): PlayedRun {
  const { scenario = 's', tags = [], repeat = index + 1, variant } = facts;
  const named = { scenario, tags, repeat, ...(variant === undefined ? {} : { variant }) };
  const id = `sweep/${scenario}${variant === undefined ? '' : `@${variant}`}/${repeat}`;
  const plan = { id, seed: 1, ...named };
  if (outcome === 'absent') return { plan };
  const result: RunResult = {
    schema: 1,
    run: id,
    ...named,
    generation: 1,
    checks: [],
    turns: 2,
    toolCalls: 0,
    replySeconds: [1, 2],
    playMs: 3000,
    usage: noUsage,
    retries: {},
    resumptions: 0,
    resent: 0,
    restarted: 0,
    markedMessages: 0,
    startedAt: 0,
    endedAt: 1,
    ...facts,
    outcome,
  };
  return { plan, result };
}
