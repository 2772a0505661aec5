import { type Json, jsonIn, textOf } from '../../domain/json.ts';
import { followPath } from '../../domain/json-path.ts';
import type { StreamRule, StreamRules } from '../../domain/sweep-spec.ts';
import { readPayloads } from './payloads.ts';

/** One JSON value of a stream; `counts` where it meets every `select`. */
export type Chunk = { readonly value: Json; readonly event: string; readonly counts: boolean };

/** A stream up to its stop, or to its end where none came. */
export type StreamRead = {
  readonly chunks: readonly Chunk[];
  /** The body as far as it was read. */
  readonly text: string;
  /** Whether it was read as far as it had to be. */
  readonly isWhole: boolean;
  /** What is wrong with it. */
  readonly problem?: string;
};

export type StreamReading = {
  readonly rules: StreamRules;
  readonly contentType: string;
  /** A payload that is not JSON is text of its own, as `reply: response` asks for. */
  readonly isText: boolean;
  readonly maxBytes: number;
};

/**
 * Reads server-sent events or JSON lines, told apart by their type or looks, until a stop rule holds. `[DONE]` always
 * ends a stream, and one that ends without its stop mark is whole. A body that is one JSON value is one chunk, a JSON
 * list a chunk an item. Leaving early destroys the body, and with it the connection.
 */
export async function readStream(body: AsyncIterable<Buffer>, reading: StreamReading): Promise<StreamRead> {
  const payloads = readPayloads(body, reading);
  const chunks: Chunk[] = [];
  let problem: string | undefined;
  for await (const { event, data } of payloads) {
    if (problem !== undefined) continue;
    if (data === '[DONE]' || isStop(data, reading.rules)) break;
    const value = jsonIn(data) ?? (reading.isText ? data : undefined);
    if (value === undefined) problem = `streamed what is not JSON: ${data.slice(0, 100)}`;
    else if (event === 'error' && reading.rules.kind === 'rules') problem = 'streamed an error';
    else {
      chunks.push({ event, value, counts: counts(value, reading.rules) });
      if (isLast(value, reading.rules)) break;
    }
    // Lines that are no JSON may still be one value, written over several of them.
    if (problem !== undefined && payloads.kind() === 'events') break;
  }
  const read = { text: payloads.text(), isWhole: payloads.isWhole() };
  if (problem === undefined || payloads.kind() === 'events') {
    return { ...read, chunks, ...(problem === undefined ? {} : { problem }) };
  }
  const whole = jsonIn(read.text);
  if (whole === undefined) return { ...read, chunks, problem };
  const values: readonly Json[] = Array.isArray(whole) ? whole : [whole];
  return {
    ...read,
    chunks: values.map((value) => ({ event: '', value, counts: counts(value, reading.rules) })),
  };
}

function isStop(data: string, rules: StreamRules): boolean {
  return rules.kind === 'rules' && rules.stop.some(({ path, value }) => path === undefined && value === data);
}

function isLast(value: Json, rules: StreamRules): boolean {
  return rules.kind === 'rules' && rules.stop.some((rule) => meets(value, rule));
}

function counts(value: Json, rules: StreamRules): boolean {
  return rules.kind !== 'rules' || rules.select.every((rule) => meets(value, rule));
}

function meets(chunk: Json, { path, value: wanted }: StreamRule): boolean {
  const found = path === undefined ? undefined : followPath(chunk, path);
  if (found === undefined || found === null) return false;
  if (wanted === '*') return true;
  const truth = wanted.toLowerCase();
  if (truth === 'true' || truth === 'false') return found === (truth === 'true');
  return textOf(found) === wanted;
}
