import { z } from 'zod';
import { wordHint } from '../domain/closest.ts';
import type { Part, Path } from './document.ts';

/** Something that does not have the shape it should: at a path, what is wrong, how to mend it. */
export type ShapeMistake = {
  readonly path: Path;
  readonly part?: Part;
  readonly message: string;
  readonly hint?: string;
};

/** A map with exactly these keys; an unknown one comes with the closest of them. */
export function fields<T extends z.core.$ZodLooseShape>(shape: T) {
  const allowed = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => wordHint(key, allowed)).join('\n')
        : undefined,
  });
}

/** What zod found wrong, in sentences. */
export function shapeMistakes(error: z.core.$ZodError): readonly ShapeMistake[] {
  return error.issues.flatMap((issue) => mistakesOf(issue, []));
}

type Issue = z.core.$ZodIssue;

function mistakesOf(issue: Issue, around: Path): readonly ShapeMistake[] {
  const path = [...around, ...(issue.path as Path)];
  if (issue.code === 'unrecognized_keys') {
    const hints = issue.message.split('\n');
    return issue.keys.map((key, index) => unknownKey([...path, key], key, hints[index]));
  }
  if (issue.code === 'invalid_union') return mistakesOfUnion(issue, path);
  return [{ path, ...sentenceOf(issue, path) }];
}

function unknownKey(path: Path, key: string, hint: string | undefined): ShapeMistake {
  return { path, part: 'key', message: `unknown key "${key}"`, ...(hint === undefined ? {} : { hint }) };
}

// The branch that was meant is the one that got past the outermost value.
function mistakesOfUnion(issue: z.core.$ZodIssueInvalidUnion, path: Path): readonly ShapeMistake[] {
  const meant = issue.errors.find(
    (branch) => branch.length > 0 && branch.every(({ path: inner }) => inner.length > 0),
  );
  if (meant !== undefined) return meant.flatMap((inner) => mistakesOf(inner, path));
  return [
    {
      path,
      message: `${issue.message}, not ${describe(issue.input)}`,
      ...quoteHint(issue.message, issue.input),
    },
  ];
}

function sentenceOf(issue: Issue, path: Path): { readonly message: string; readonly hint?: string } {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return { message: missing(path) };
      const expected = typeNames[issue.expected] ?? issue.expected;
      return {
        message: `must be ${expected}, not ${describe(issue.input)}`,
        ...quoteHint(expected, issue.input),
      };
    }
    case 'invalid_value': {
      if (issue.input === undefined) return { message: missing(path) };
      const allowed = issue.values.map(String);
      const hint =
        typeof issue.input === 'string' && allowed.length > 1 ? { hint: wordHint(issue.input, allowed) } : {};
      return { message: `must be ${allowed.join(' or ')}, not ${describe(issue.input)}`, ...hint };
    }
    case 'too_small':
      return { message: tooSmall(issue) };
    case 'too_big':
      return { message: `must be at most ${issue.maximum}, not ${describe(issue.input)}` };
    case 'invalid_format':
      return { message: `${issue.message}, not ${describe(issue.input)}` };
    default:
      return { message: issue.input === undefined ? missing(path) : issue.message };
  }
}

function missing(path: Path): string {
  return `"${String(path.at(-1))}" is missing`;
}

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === 'array' || issue.origin === 'string') return 'must not be empty';
  const bound = issue.inclusive === false ? `more than ${issue.minimum}` : `at least ${issue.minimum}`;
  return `must be ${bound}, not ${describe(issue.input)}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

/** A value in a few words, for messages. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value !== 'string') return String(value);
  return `"${value.length > 60 ? `${value.slice(0, 57)}...` : value}"`;
}

function quoteHint(expected: string, input: unknown): { readonly hint?: string } {
  const isBare = typeof input === 'number' || typeof input === 'boolean';
  return isBare && expected.includes('text') ? { hint: `for text put it in quotes: "${input}"` } : {};
}
