import type { CheckSet } from '../domain/check-set.ts';
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

/** `checks/<number>.json`, indented: people read it. */
export function encodeCheckSet(checkSet: CheckSet): string {
  return `${JSON.stringify(checkSet, null, 2)}\n`;
}

/** Reads `checks/<number>.json`. Throws `UsageError` where it is damaged or of a newer schema. */
export function parseCheckSet(text: string, file: string): CheckSet {
  const value = parseStored(text, 'a check set', 1, { file });
  if (!isCheckSet(value)) throw notStored('a check set', { file });
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

function isCheckSet(value: JsonObject): value is JsonObject & CheckSet {
  return (
    Number.isInteger(value.number) &&
    Array.isArray(value.checks) &&
    Array.isArray(value.thresholds) &&
    Array.isArray(value.kept) &&
    Array.isArray(value.env) &&
    isJsonObject(value.models)
  );
}

function isShard(value: JsonObject): value is JsonObject & ShardRecord {
  return Number.isInteger(value.shard) && Array.isArray(value.runs) && Array.isArray(value.scenarios);
}
