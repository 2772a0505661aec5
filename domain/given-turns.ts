import type { Scenario } from './scenario.ts';
import type { ConversationSpec, DriverSpec, SweepSpec } from './sweep-spec.ts';
import { literally } from './template.ts';

/** Who drives a scenario: one that brings its own turns is driven by them, whatever driver the sweep has. */
export function driverOf(driver: DriverSpec, { turns }: Scenario): DriverSpec {
  if (turns === undefined) return driver;
  return { kind: 'script', steps: turns.map(({ text }) => ({ kind: 'say', text: literally(text) })) };
}

/** How a scenario is played: the sweep's stop check ends none that brings its own turns. */
export function conversationOf({ conversation }: SweepSpec, { turns }: Scenario): ConversationSpec {
  if (turns === undefined) return conversation;
  const { stop: _stop, ...rest } = conversation;
  return rest;
}
