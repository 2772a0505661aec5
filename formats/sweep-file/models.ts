import type { Json } from '../../domain/json.ts';
import type { ModelSpec } from '../../domain/sweep-spec.ts';
import { defaults } from '../defaults.ts';
import type { Path } from '../document.ts';
import { present } from '../present.ts';
import type { Reader } from './reader.ts';
import { modelSchema } from './schema.ts';

/** One entry of `models`. */
export function readModel(reader: Reader, name: string, value: Json): ModelSpec | undefined {
  const path = ['models', name];
  const raw = reader.shaped(modelSchema, value, path);
  if (raw === undefined) return undefined;
  checkUrl(reader, raw.base_url, [...path, 'base_url']);
  return {
    name,
    model: raw.model,
    baseUrl: reader.sent(raw.base_url),
    headers: reader.sent(raw.headers ?? {}),
    params: raw.params ?? {},
    maxInFlight: raw.max_in_flight ?? defaults['models.*.max_in_flight'],
    ...present({
      apiKey: raw.api_key === undefined ? undefined : reader.sent(raw.api_key),
      rpm: raw.rpm,
      tpm: raw.tpm,
      price: raw.price,
    }),
  };
}

/** Refuses what cannot be an http address; one that begins with a reference or a variable is known only later. */
export function checkUrl(reader: Reader, url: string, path: Path): void {
  if (/^https?:\/\/[^/\s]/i.test(url) || /^(?:\$\{|\{)/.test(url)) return;
  reader.refuse(path, `"${url}" is no address of a server`, 'it begins with http:// or https://');
}
