import { isJsonObject, type Json } from '../domain/json.ts';

const references = /\$\{([A-Z_][A-Z0-9_]*)\}/g;

/** The names in the `${NAME}` references of a text, or of all strings of a structure, each once. */
export function envNames(value: Json): readonly string[] {
  return [...new Set(namesIn(value))];
}

function namesIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [...value.matchAll(references)].map((match) => match[1] ?? '');
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return isJsonObject(value) ? Object.values(value).flatMap(namesIn) : [];
}
