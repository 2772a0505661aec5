import type { Json } from '../../domain/json.ts';

/** An answer of user code holds something that JSON does not have; the message says where and what. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
}

/**
 * A plain copy of an answer, as JSON would carry it: keys without a value are left out, `toJSON` is honoured.
 * Throws `NotJson` for functions, symbols, BigInts, NaN, cycles, maps and sets, and holes in lists.
 */
export function toJson(value: unknown, place = 'the answer', above: readonly unknown[] = []): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new NotJson(`${place} is ${value}`);
    case 'object':
      return value === null ? null : structureToJson(value, place, above);
    case 'undefined':
      throw new NotJson(`${place} is undefined`);
    default:
      throw new NotJson(`${place} is a ${typeof value}`);
  }
}

function structureToJson(value: object, place: string, above: readonly unknown[]): Json {
  if (above.includes(value)) throw new NotJson(`${place} contains itself`);
  const within = [...above, value];
  if ('toJSON' in value && typeof value.toJSON === 'function') return toJson(value.toJSON(), place, within);
  if (Array.isArray(value))
    return Array.from(value, (item, index) => toJson(item, `${place}[${index}]`, within));
  if (value instanceof Map || value instanceof Set)
    throw new NotJson(`${place} is a ${value.constructor.name}`);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, toJson(item, `${place}.${key}`, within)]));
}
