import { isJsonObject, type Json, jsonIn } from '../../domain/json.ts';
import type { Wording } from './failure-table.ts';

/** What a server says about a call that it refused. */
export type Complaint = {
  /** In lower case, at most 4,000 characters. */
  readonly message: string;
  /** Codes, types and statuses, normalised. */
  readonly codes: readonly string[];
  /** Parameters that it names as such. */
  readonly params: readonly string[];
};

const longestMessage = 4000;

/** Reads the body of a refusal; where it is no JSON of a known form its text is the message. */
export function readComplaint(body: string): Complaint {
  const value = jsonIn(body);
  const first = Array.isArray(value) ? value[0] : value;
  if (!isJsonObject(first)) return { message: isWebPage(body) ? '' : clip(body), codes: [], params: [] };
  const error = isJsonObject(first.error) ? first.error : first;
  const inner = [error, error.innererror, error.metadata, error.details].flat().filter(isJsonObject);
  const messages = inner.flatMap((part) => [part.message, part.raw]).concat(error.error, first.detail);
  const details = [error.detail, error.details, first.detail].flat().filter(isJsonObject);
  const message = [...messages, ...details.map((detail) => detail.msg)].filter(isText).join('\n');
  return {
    message: clip(message === '' ? body : message),
    codes: inner
      .flatMap((part) => [part.code, part.type, part.status, part.reason])
      .filter(isText)
      .map(normaliseCode),
    params: [error.param, ...details.flatMap((detail) => lastOf(detail.loc))].filter(isText),
  };
}

/** Whether a complaint is worded like this. */
export function isWorded(complaint: Complaint, wording: Wording): boolean {
  return (
    complaint.codes.some((code) => wording.codes.includes(code)) ||
    wording.phrases.some((phrase) => phrase.test(complaint.message))
  );
}

/** Lower case, every run of other signs than letters and digits as `_`. */
export function normaliseCode(code: string): string {
  return code.toLowerCase().replace(/[^a-z0-9]+/g, '_');
}

/** Their footers speak of policies and limits that have nothing to do with the call. */
function isWebPage(body: string): boolean {
  return body.trimStart().startsWith('<');
}

function clip(text: string): string {
  return text.slice(0, longestMessage).toLowerCase();
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string';
}

function lastOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value.slice(-1) : [];
}
