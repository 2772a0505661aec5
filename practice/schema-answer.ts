import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts';
import type { Opinion } from './judge.ts';

/**
 * A value that fits a JSON Schema and says what the opinion says: texts are the reason, booleans whether it is good,
 * numbers lie on the schema's scale (else on the opinion's), of several choices the first is the best.
 */
export function fitSchema(schema: Json | undefined, opinion: Opinion, root: Json | undefined = schema): Json {
  if (!isJsonObject(schema)) return opinion.reason;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return choiceOf(schema.enum, opinion);
  if (typeof schema.$ref === 'string') return fitSchema(resolve(root, schema.$ref), opinion, root);
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options)) return fitSchema(options[0], opinion, root);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'boolean':
      return opinion.share >= 0.5;
    case 'number':
    case 'integer':
      return numberOf(schema, opinion);
    case 'array':
      return [];
    case 'string':
      return opinion.reason;
    case 'null':
      return null;
    default:
      return objectOf(schema, opinion, root);
  }
}

function objectOf(schema: JsonObject, opinion: Opinion, root: Json | undefined): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, fitSchema(property, opinion, root)]),
  );
}

function choiceOf(choices: readonly Json[], opinion: Opinion): Json {
  const isNumeric = choices.every((choice) => typeof choice === 'number');
  const best = isNumeric ? choices.toSorted((a, b) => Number(b) - Number(a)) : positiveFirst(choices);
  return best[Math.round((1 - opinion.share) * (best.length - 1))] ?? null;
}

/** Two choices may come in either order: `fail` never stands for good. */
function positiveFirst(choices: readonly Json[]): readonly Json[] {
  const isNegative =
    typeof choices[0] === 'string' && /^(?:fail(?:ed)?|no|false|bad|not_?met|incorrect)$/i.test(choices[0]);
  return choices.length === 2 && isNegative ? choices.toReversed() : choices;
}

function numberOf(schema: JsonObject, { share, scale }: Opinion): number {
  const from = typeof schema.minimum === 'number' ? schema.minimum : scale.from;
  const to = typeof schema.maximum === 'number' ? schema.maximum : scale.to;
  const value = from + (to - from) * share;
  return schema.type === 'integer' || to - from > 1 ? Math.round(value) : Math.round(value * 100) / 100;
}

function resolve(root: Json | undefined, ref: string): Json | undefined {
  return ref
    .replace(/^#\/?/, '')
    .split('/')
    .reduce<Json | undefined>((value, key) => (isJsonObject(value) ? value[key] : undefined), root);
}
