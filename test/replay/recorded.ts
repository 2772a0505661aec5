import { readdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import proto from '@temporalio/proto';
import { root } from '../test-files.ts';

const { History } = proto.temporal.api.history.v1;
type History = proto.temporal.api.history.v1.IHistory;

export type HistoryEvent = { readonly eventType: string; readonly [attributes: string]: unknown };

/** One workflow's history as plain JSON: enums by name, numbers of 64 bits as text, payloads in base64. */
export type RecordedHistory = {
  readonly workflowId: string;
  readonly history: { readonly events: readonly HistoryEvent[] };
};

/** A sweep, its shards and some of its runs. */
export type Recording = { readonly name: string; readonly histories: readonly RecordedHistory[] };

export const recordingsFolder = join(root, 'test/histories');

/** Everything that `record.ts` has written, by the name of the sweep. */
export function readRecordings(): readonly Recording[] {
  return readdirSync(recordingsFolder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: file.slice(0, -'.json'.length),
      histories: JSON.parse(readFileSync(join(recordingsFolder, file), 'utf8')),
    }));
}

/** The SDK's own reader and writer of JSON want one copy of protobufjs in the tree; these do not. */
export function historyToJson(history: History): RecordedHistory['history'] {
  return History.toObject(History.fromObject(history), {
    enums: String,
    longs: String,
    bytes: String,
  }) as RecordedHistory['history'];
}

export function historyFromJson(history: RecordedHistory['history']): History {
  return History.fromObject(history);
}

/** Neither who recorded it nor where. */
export function withoutPlaces(text: string): string {
  return text
    .replaceAll(new RegExp(`\\d+@${hostname()}`, 'g'), 'recorder')
    .replaceAll(root, '')
    .replaceAll(hostname(), 'host');
}

export function oneEventALine(histories: readonly RecordedHistory[]): string {
  return `${JSON.stringify(histories).replaceAll('{"eventId"', '\n{"eventId"')}\n`;
}

/** All text of a history, payloads decoded. */
export function textOf(history: RecordedHistory['history']): string {
  return JSON.stringify(history, (key, value) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
  );
}
