import { Fault } from '../../domain/fault.ts';
import { isJsonObject, type Json, jsonIn, textOf } from '../../domain/json.ts';
import type { HttpRequestSpec } from '../../domain/sweep-spec.ts';
import { renderJson, renderText, type Variables } from '../../domain/template.ts';

/** A request with everything in its place, secrets included. */
export type HttpRequest = {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/**
 * Renders a request. Secrets are resolved in the file's own text only, never in a value: a message that says
 * `${NAME}` stays what it is. Throws `TemplateError`, and configuration `Fault`s for secrets and addresses.
 */
export function renderRequest(
  spec: HttpRequestSpec,
  known: Variables,
  resolve: (text: string) => string,
): HttpRequest {
  const template = secretsAsVariables(
    { url: spec.url, headers: spec.headers, body: spec.body ?? null },
    resolve,
  );
  const variables = { ...known, ...template.variables };
  const headers = renderHeaders(template.headers, variables);
  const body = renderBody(template.body, headers['content-type'], variables);
  return {
    method: spec.method,
    url: renderUrl(template.url, variables),
    headers: body === undefined ? headers : { 'content-type': body.type, ...headers },
    ...(body === undefined ? {} : { body: body.text }),
  };
}

type Parts = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
};

const secretPrefix = 'regatta_secret_';
const secret = /(?<!\\)\$\{([A-Z_][A-Z0-9_]*)\}/g;

function secretsAsVariables(
  parts: Parts,
  resolve: (text: string) => string,
): Parts & { readonly variables: Variables } {
  const variables: Record<string, Json> = {};
  const text = JSON.stringify(parts).replace(secret, (reference, name: string) => {
    variables[secretPrefix + name] = resolve(reference);
    return `{${secretPrefix}${name}}`;
  });
  return { ...(JSON.parse(text) as Parts), variables };
}

/** Values are percent-encoded from the path on; secrets are the author's own text and stay as they are. */
function renderUrl(template: string, variables: Variables): URL {
  const text = template.replace(/\\\{|\{[^{}\\]+\}/g, (match, offset: number) => {
    const value = renderText(match, variables);
    const isOwnText = value === match || match === '\\{' || match.startsWith(`{${secretPrefix}`);
    return isOwnText || !isPastHost(template.slice(0, offset))
      ? value
      : encodeURIComponent(wellFormed(value));
  });
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new Fault('invalid_request', `${template} does not make an http or https address`, {
    blame: 'configuration',
    endpoint: template,
  });
}

/** Half a character pair, which cannot be encoded, becomes the replacement character. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

function isPastHost(before: string): boolean {
  return /[/?#]/.test(before.replace(/^[^/?#]*:\/\//, ''));
}

/** A header that comes to nothing (no session yet) is left out; line breaks in values become blanks. */
function renderHeaders(
  templates: Readonly<Record<string, string>>,
  variables: Variables,
): Readonly<Record<string, string>> {
  const rendered = Object.entries(templates).map(([name, template]) => {
    const value = renderText(template, variables)
      .replace(/[\r\n]+/g, ' ')
      .trim();
    // Header values are bytes: text beyond Latin-1 travels as UTF-8.
    return [name.toLowerCase(), Buffer.from(value, 'utf8').toString('latin1')] as const;
  });
  return Object.fromEntries(rendered.filter(([, value]) => value !== ''));
}

/** A text that is itself JSON is a structure, too: values in it are escaped and keep their types. */
function renderBody(
  template: Json,
  contentType: string | undefined,
  variables: Variables,
): { readonly text: string; readonly type: string } | undefined {
  if (template === null) return undefined;
  const structure = typeof template === 'string' ? structureIn(template) : template;
  if (structure === undefined) return textBody(renderText(textOf(template), variables));
  const value = renderJson(structure, variables);
  if (contentType?.startsWith('application/x-www-form-urlencoded') && isJsonObject(value)) {
    const fields = Object.entries(value).map(([key, field]): [string, string] => [key, textOf(field)]);
    return { text: new URLSearchParams(fields).toString(), type: contentType };
  }
  return { text: JSON.stringify(value), type: 'application/json' };
}

function textBody(text: string): { readonly text: string; readonly type: string } {
  return { text, type: structureIn(text) === undefined ? 'text/plain; charset=utf-8' : 'application/json' };
}

function structureIn(text: string): Json | undefined {
  return /^\s*[[{]/.test(text) ? jsonIn(text) : undefined;
}
