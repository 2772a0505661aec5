import { isJsonObject, type JsonObject } from '../domain/json.ts';
import type { ShardRecord, SweepRecord } from '../domain/sweep-record.ts';
import { notStored, parseStored } from './stored-json.ts';

/** `sweep.json`, indented: people read it. */
export function encodeSweep(record: SweepRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Reads `sweep.json`. Throws `UsageError` where it is damaged or of a newer schema. */
export function parseSweep(text: string, file: string): SweepRecord {
  const value = parseStored(text, 'a sweep', 1, { file });
  if (!isSweep(value)) throw notStored('a sweep', { file });
  return value;
}

/** `shards/<shard>.json`, on one line. */
export function encodeShard(record: ShardRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Reads `shards/<shard>.json`. Throws `UsageError` where it is damaged or of a newer schema. */
export function parseShard(text: string, file: string): ShardRecord {
  const value = parseStored(text, 'a shard of a sweep', 1, { file });
  if (!isShard(value)) throw notStored('a shard of a sweep', { file });
  return value;
}

function isSweep(value: JsonObject): value is JsonObject & SweepRecord {
  return (
    typeof value.id === 'string' &&
    typeof value.hash === 'string' &&
    isJsonObject(value.spec) &&
    isJsonObject(value.planned)
  );
}

function isShard(value: JsonObject): value is JsonObject & ShardRecord {
  return Number.isInteger(value.shard) && Array.isArray(value.runs) && Array.isArray(value.scenarios);
}
