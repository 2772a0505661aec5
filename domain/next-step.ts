import type { Conversation } from './conversation.ts';
import type { Ending } from './ending.ts';
import type { ConversationSpec, DriverSpec, ScriptStep } from './sweep-spec.ts';

/** What decides how a conversation goes on. */
export type ConversationRules = {
  readonly conversation: ConversationSpec;
  readonly driver: DriverSpec;
  /** The target opens sessions. */
  readonly sessions: boolean;
  /** Names of the checks that are asked at each turn, the stop check among them. */
  readonly turnChecks: readonly string[];
  /** By turn, names of checks that are asked after it and whose fail ends the conversation. */
  readonly lastTurnOnFail?: Readonly<Record<number, readonly string[]>>;
  /** Limit of play time in milliseconds. */
  readonly runMs: number;
};

/** What has to happen next. */
export type NextStep =
  | { readonly kind: 'start_session' }
  /** The target speaks before the first turn. */
  | { readonly kind: 'greet' }
  /** The driver's model speaks. */
  | { readonly kind: 'drive'; readonly turn: number }
  /** The driver says what its script, or a single-turn row, says. */
  | { readonly kind: 'say'; readonly turn: number; readonly step?: Extract<ScriptStep, { kind: 'say' }> }
  | { readonly kind: 'reply'; readonly turn: number }
  | { readonly kind: 'check'; readonly turn: number }
  | { readonly kind: 'end'; readonly ending: Ending };

/** Names of the checks that are asked right after a turn. */
export function checksAfter(
  { turnChecks, lastTurnOnFail = {} }: Pick<ConversationRules, 'turnChecks' | 'lastTurnOnFail'>,
  turn: number,
): readonly string[] {
  return [...turnChecks, ...(lastTurnOnFail[turn] ?? [])];
}

/** The next step of a conversation that is open, not ended and not broken. */
export function nextStep(now: Conversation, rules: ConversationRules): NextStep {
  if (rules.sessions && !now.session.started) return { kind: 'start_session' };
  const last = now.transcript.at(-1);
  const waitsForReply = last?.by === 'driver';
  const greets = last === undefined && rules.conversation.first === 'target' && rules.driver.kind !== 'none';
  const turn = last?.turn ?? 0;
  if (waitsForReply || greets) {
    if (now.playMs >= rules.runMs) return { kind: 'end', ending: now.decided ?? { kind: 'time_limit' } };
    return greets ? { kind: 'greet' } : { kind: 'reply', turn };
  }
  const asked = now.turnChecks[turn] ?? [];
  const unasked = checksAfter(rules, turn).some((name) => !asked.some((result) => result.check === name));
  if (turn > 0 && unasked) return { kind: 'check', turn };
  const ending = endingAfter(now, rules, turn);
  return ending === undefined ? driverStep(rules.driver, turn + 1) : { kind: 'end', ending };
}

/** Why a conversation ends after a complete turn (or the greeting, turn 0), if it does. */
function endingAfter(now: Conversation, rules: ConversationRules, turn: number): Ending | undefined {
  if (now.decided !== undefined) return now.decided;
  const { stop } = rules.conversation;
  const stopResult = now.turnChecks[turn]?.find((result) => result.check === stop?.check);
  if (stop !== undefined && stopResult?.verdict === stop.on) return { kind: 'stop_check', check: stop.check };
  const failed = now.turnChecks[turn]?.find(
    ({ check, verdict }) => verdict === 'fail' && rules.lastTurnOnFail?.[turn]?.includes(check) === true,
  );
  if (failed !== undefined) return { kind: 'stop_check', check: failed.check };
  if (now.playMs >= rules.runMs) return { kind: 'time_limit' };
  if (rules.driver.kind === 'model')
    return turn >= rules.conversation.maxTurns ? { kind: 'max_turns' } : undefined;
  return turn >= scriptedTurns(rules.driver) ? { kind: 'script_done' } : undefined;
}

/** How many turns a driver without a free model plays: a script is played whole, a single-turn row has one. */
function scriptedTurns(driver: Exclude<DriverSpec, { kind: 'model' }>): number {
  if (driver.kind === 'none') return 1;
  return driver.steps.reduce((turns, step) => turns + (step.kind === 'say' ? 1 : step.turns), 0);
}

function driverStep(driver: DriverSpec, turn: number): NextStep {
  switch (driver.kind) {
    case 'model':
      return { kind: 'drive', turn };
    case 'none':
      return { kind: 'say', turn };
    case 'script': {
      let before = 0;
      for (const step of driver.steps) {
        before += step.kind === 'say' ? 1 : step.turns;
        if (turn <= before)
          return step.kind === 'say' ? { kind: 'say', turn, step } : { kind: 'drive', turn };
      }
      throw new Error(`the script has no step for turn ${turn}`);
    }
  }
}
