import { wordHint } from '../../domain/closest.ts';
import type { Json } from '../../domain/json.ts';
import type { ConversationSpec, DriverSpec, Timeouts } from '../../domain/sweep-spec.ts';
import { defaults } from '../defaults.ts';
import { durationMs } from '../durations.ts';
import { present } from '../present.ts';
import type { Reader } from './reader.ts';
import { conversationSchema, timeoutsSchema } from './schema.ts';

/** Who speaks first, how long, and what stops it. Without a driver it has one turn. */
export function readConversation(
  reader: Reader,
  value: Json | undefined,
  driver: DriverSpec,
): ConversationSpec {
  const raw = reader.shaped(conversationSchema, value ?? {}, ['conversation']) ?? {};
  const { checks } = reader.names;
  if (raw.stop !== undefined && !checks.includes(raw.stop.check)) {
    const hint = checks.length === 0 ? 'define it under `checks`' : wordHint(raw.stop.check, checks);
    reader.refuse(['conversation', 'stop', 'check'], `there is no check "${raw.stop.check}"`, hint);
  }
  const stop = raw.stop && { check: raw.stop.check, on: raw.stop.on ?? defaults['conversation.stop.on'] };
  return {
    first: raw.first ?? defaults['conversation.first'],
    maxTurns: driver.kind === 'none' ? 1 : (raw.max_turns ?? defaults['conversation.max_turns']),
    ...present({ stop }),
  };
}

// Longer waits overflow the timers of servers and runtimes.
const longestMs = 365 * 86_400_000;

/** The clocks of a sweep, in milliseconds. */
export function readTimeouts(reader: Reader, value: Json | undefined): Timeouts {
  const raw = reader.shaped(timeoutsSchema, value ?? {}, ['timeouts']) ?? {};
  const ms = (key: keyof typeof raw): number => {
    const fallback = durationMs(defaults[`timeouts.${key}`]) ?? 0;
    const written = raw[key] === undefined ? fallback : (durationMs(raw[key]) ?? 0);
    if (written > 0 && written <= longestMs) return written;
    reader.refuse(['timeouts', key], `must be more than nothing and at most 365d, not ${raw[key]}`);
    return fallback;
  };
  return {
    callMs: ms('call'),
    runMs: ms('run'),
    giveUpMs: ms('give_up'),
    sweepMs: ms('sweep'),
    ...present({ stretchMs: raw.stretch === undefined ? undefined : ms('stretch') }),
  };
}
