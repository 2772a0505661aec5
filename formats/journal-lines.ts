import { Fault } from '../domain/fault.ts';
import type { JournalEvent } from '../domain/journal.ts';
import type { JsonObject } from '../domain/json.ts';
import { parseObject } from './stored-json.ts';

const eventKinds: { readonly [kind in JournalEvent['kind']]: true } = {
  resumed: true,
  opened: true,
  session: true,
  message: true,
  tool_call: true,
  state: true,
  call: true,
  vote: true,
  check: true,
  ended: true,
  fault: true,
  rejudged: true,
  released: true,
};

/**
 * One line an event, each with its line end, `kind` first. Events that are written together hold together: each but
 * the last says that there is `more`.
 */
export function encodeEvents(events: readonly JournalEvent[]): string {
  return events
    .map(({ kind, at, ...rest }, index) => {
      const more = index < events.length - 1 ? { more: true } : {};
      return `${JSON.stringify({ kind, at, ...rest, ...more })}\n`;
    })
    .join('');
}

/**
 * The events of one part, in order. What a crash tore is left out: what follows the last line end, and events that
 * lack those that were written with them. A whole line that is not an event cannot come from a crash of its writer,
 * which would have stopped there: the file is damaged, and the part ends before it, since a transcript with a hole is
 * worse than a shorter one. An event of a kind that only a newer version knows throws `Fault` store_unavailable: a
 * worker of that version may go on.
 */
export function parseEvents(text: string, file: string): readonly JournalEvent[] {
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
  const events: JournalEvent[] = [];
  let whole = 0;
  for (const [index, line] of lines.entries()) {
    const parsed = parseObject(line);
    if (parsed === undefined || !isStamped(parsed)) break;
    const { more, ...event } = parsed;
    if (!isKnown(event)) throw unknownKind(event, `${file}:${index + 1}`);
    events.push(event);
    if (more !== true) whole = events.length;
  }
  return events.slice(0, whole);
}

function isStamped(event: JsonObject): boolean {
  return typeof event.kind === 'string' && typeof event.at === 'number';
}

function isKnown(event: JsonObject): event is JsonObject & JournalEvent {
  return Object.hasOwn(eventKinds, String(event.kind));
}

function unknownKind(event: JsonObject, place: string): Fault {
  return new Fault(
    'store_unavailable',
    `${place}: an event of the kind "${event.kind}", which only a newer version of regatta knows`,
    { blame: 'infrastructure', endpoint: place },
  );
}
