import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { type Place, UsageError } from '../domain/usage-error.ts';

/**
 * Reads one stored JSON object and its `schema` number. `what` names the thing in messages: `a sweep`.
 * Throws `UsageError` where the text is not one, or was written by a newer version.
 */
export function parseStored(text: string, what: string, newest: number, where: Place): JsonObject {
  const value = parseObject(text);
  const schema = value?.schema;
  if (value === undefined || typeof schema !== 'number') throw notStored(what, where);
  if (schema > newest) {
    throw new UsageError({
      message: `${what} of schema ${schema}, but this version of regatta reads up to ${newest}`,
      hint: 'use the version that wrote it, or a newer one',
      where,
    });
  }
  return value;
}

/** What is thrown where a stored text is damaged, or something else. */
export function notStored(what: string, where: Place): UsageError {
  return new UsageError({ message: `this is not ${what}`, where });
}

/** A JSON object, or undefined where the text is anything else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
