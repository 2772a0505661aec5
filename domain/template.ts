import { isJsonObject, type Json, textOf } from './json.ts';

/** Values by name; `undefined` is a known name that has no value yet. */
export type Variables = { readonly [name: string]: Json | undefined };

/** One `{path}` of a template: `input.items.-1` has the root `input` and the steps `items` and `-1`. */
export type TemplatePath = {
  readonly path: string;
  readonly root: string;
  readonly steps: readonly string[];
};

/** A template names something that the values at hand lack. It is a mistake in a file, not a fault of a call. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** The whole path, as written between the braces. */
  readonly path: string;

  constructor(message: string, path: string) {
    super(message);
    this.path = path;
  }
}

// A root is an identifier; a step is a key or an index, which may be negative. Everything else in braces is text, and
// so is a reference to the environment: `${NAME}` in capitals.
const pathSource = String.raw`[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}\p{N}_-]+)*`;
const placeholders = new RegExp(String.raw`\\\{|\$\{[A-Z_][A-Z0-9_]*\}|\{(${pathSource})\}`, 'gu');
const onePlaceholder = new RegExp(String.raw`^\{(${pathSource})\}$`, 'u');

/**
 * Replaces each `{path}` once (a value that holds braces is not read again); `\{` is a literal brace. Values that are
 * not text become JSON, a value that is not known yet becomes empty text. Throws `TemplateError`.
 */
export function renderText(template: string, variables: Variables): string {
  return template.replace(placeholders, (match, path: string | undefined) => {
    if (path === undefined) return match === '\\{' ? '{' : match;
    const value = valueAt(parsePath(path), variables);
    return value === undefined ? '' : textOf(value);
  });
}

/**
 * Renders every string of a structure. A string that is exactly one `{path}` keeps the value's type; the key (or the
 * item) that holds it is left out while the value is not known yet. Throws `TemplateError`.
 */
export function renderJson(template: Json, variables: Variables): Json {
  return renderValue(template, variables) ?? '';
}

function renderValue(template: Json, variables: Variables): Json | undefined {
  if (typeof template === 'string') {
    const path = onePlaceholder.exec(template)?.[1];
    return path === undefined ? renderText(template, variables) : valueAt(parsePath(path), variables);
  }
  if (Array.isArray(template)) {
    return template.map((item) => renderValue(item, variables)).filter((item) => item !== undefined);
  }
  if (!isJsonObject(template)) return template;
  const rendered = Object.entries(template).map(
    ([key, value]) => [key, renderValue(value, variables)] as const,
  );
  return Object.fromEntries(rendered.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** The template that renders to exactly this value, braces and all. */
export function literally<T extends Json>(value: T): T;
export function literally(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll('{', '\\{');
  if (Array.isArray(value)) return value.map((item: Json) => literally(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literally(inner)]));
}

/** Every `{path}` of a text, or of all strings of a structure, in order; repeated ones once. */
export function pathsOf(template: Json): readonly TemplatePath[] {
  const found = textsOf(template).flatMap((text) =>
    [...text.matchAll(placeholders)].map((match) => match[1]),
  );
  return [...new Set(found)].filter((path) => path !== undefined).map(parsePath);
}

/** The root variables that a template uses, each once. */
export function rootsOf(template: Json): readonly string[] {
  return [...new Set(pathsOf(template).map((path) => path.root))];
}

/**
 * The value at a path; `undefined` where the root is known and has no value yet.
 * Throws `TemplateError` where the root is unknown or the value lacks the path.
 */
export function valueAt({ path, root, steps }: TemplatePath, variables: Variables): Json | undefined {
  if (!Object.hasOwn(variables, root))
    throw new TemplateError(`{${path}}: there is no variable "${root}" here`, path);
  let value = variables[root];
  let walked = root;
  for (const step of steps) {
    if (value === undefined) return undefined;
    value = stepInto(value, step);
    if (value === undefined) throw new TemplateError(`{${path}}: "${walked}" has no "${step}"`, path);
    walked = `${walked}.${step}`;
  }
  return value;
}

function stepInto(value: Json, step: string): Json | undefined {
  if (Array.isArray(value)) return /^-?\d+$/.test(step) ? value.at(Number(step)) : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function parsePath(path: string): TemplatePath {
  const [root = '', ...steps] = path.split('.');
  return { path, root, steps };
}

function textsOf(template: Json): readonly string[] {
  if (typeof template === 'string') return [template];
  if (Array.isArray(template)) return template.flatMap(textsOf);
  return isJsonObject(template) ? Object.values(template).flatMap(textsOf) : [];
}
