import { isJsonObject, type Json, jsonIn } from '../../domain/json.ts';
import { followPath, pathReach } from '../../domain/json-path.ts';
import type { TargetSpec } from '../../domain/sweep-spec.ts';
import type { DryStep } from '../../workers/dry-run.ts';

/** What a path of the file gave, of the answer to one request. */
export type Reading = {
  /** The key in the sweep file. */
  readonly name: 'session_id' | 'reply' | 'tool_calls' | 'metadata';
  readonly path: string;
  /** Absent where the path led nowhere. */
  readonly value?: Json;
  /** Where it led nowhere: how far it led, and what is there. */
  readonly reach?: string;
};

/** What the paths of an HTTP target gave in a step; none for other targets, for answers that were not read, and where no JSON came. */
export function readingsOf(target: TargetSpec, step: DryStep): readonly Reading[] {
  const { kind, exchanges, fault } = step;
  const isRead = fault === undefined || fault.code === 'bad_reply';
  if (target.kind !== 'http' || !isRead || kind === 'end' || kind === 'model') return [];
  const { streaming } = (kind === 'start' ? target.start : target.send) ?? {};
  // The paths of a chat endpoint's events are not the file's.
  if (streaming?.kind === 'chat_events') return [];
  const paths = kind === 'start' ? startPaths(target) : sendPaths(target);
  const body = jsonIn(exchanges.at(-1)?.answer?.text ?? '');
  if (streaming !== undefined) return streamReadings(paths, step);
  if (body === undefined) return [];
  return paths.flatMap(({ name, path }): readonly Reading[] => {
    if (path === undefined) return [];
    const value = followPath(body, path);
    return [value === undefined ? { name, path, reach: reachOf(body, path) } : { name, path, value }];
  });
}

/** Of a stream, what all its chunks came to. */
function streamReadings(paths: readonly NamedPath[], step: DryStep): readonly Reading[] {
  if (step.kind === 'end' || step.kind === 'model' || step.read === undefined) return [];
  const reply = step.kind === 'start' ? step.read.greeting : step.read;
  const calls = reply?.toolCalls ?? [];
  const values = {
    reply: reply?.text,
    session_id: step.read.sessionId,
    tool_calls: calls.length === 0 ? undefined : (calls as Json),
    metadata: reply?.metadata,
  };
  return paths.flatMap(({ name, path }): readonly Reading[] => {
    if (path === undefined) return [];
    const value = values[name];
    return [
      value === undefined ? { name, path, reach: 'no chunk of the stream has it' } : { name, path, value },
    ];
  });
}

type NamedPath = { readonly name: Reading['name']; readonly path: string | undefined };

function startPaths({ start }: Extract<TargetSpec, { kind: 'http' }>): readonly NamedPath[] {
  return [
    { name: 'session_id', path: start?.sessionId },
    { name: 'reply', path: start?.greeting },
  ];
}

function sendPaths({ send }: Extract<TargetSpec, { kind: 'http' }>): readonly NamedPath[] {
  return [
    { name: 'reply', path: send.reply },
    { name: 'tool_calls', path: send.toolCalls },
    { name: 'session_id', path: send.sessionId },
    { name: 'metadata', path: send.metadata },
  ];
}

const mostKeys = 12;

/** `response.data holds the keys text, id`. */
function reachOf(body: Json, path: string): string {
  const reach = pathReach(body, path);
  return `${reach.path} ${contentOf(reach.value)}`;
}

function contentOf(value: Json): string {
  if (Array.isArray(value)) return `is a list of ${value.length}`;
  if (typeof value === 'string') return 'is text';
  if (!isJsonObject(value)) return `is ${value}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return 'is an empty object';
  return `holds ${keys.slice(0, mostKeys).join(', ')}${keys.length > mostKeys ? ', ...' : ''}`;
}
