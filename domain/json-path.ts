import { isJsonObject, type Json } from './json.ts';

/**
 * The value at a response path such as `response.messages.-1.content` or `choices[0].message`; indexes may be
 * negative, `["a.b"]` names a key with a dot. The prefix `response` is optional and stands for the whole value, unless
 * only a key of that name leads somewhere. `undefined` where the path leads nowhere.
 */
export function followPath(value: Json, path: string): Json | undefined {
  const steps = stepsOf(path);
  if (steps[0] !== 'response') return walk(value, steps);
  const named = walk(value, steps);
  if (steps.length === 1) return named === undefined ? value : named;
  const found = walk(value, steps.slice(1));
  return found === undefined ? named : found;
}

/** How far a path leads that does not lead to its end: the part of it that has a value, and that value. */
export function pathReach(value: Json, path: string): { readonly path: string; readonly value: Json } {
  const [first, ...rest] = stepsOf(path);
  const steps = first === 'response' && walk(value, [first]) === undefined ? rest : stepsOf(path);
  const missing = steps.findIndex((_, index) => walk(value, steps.slice(0, index + 1)) === undefined);
  const reached = missing < 0 ? steps : steps.slice(0, missing);
  return { path: ['response', ...reached].join('.'), value: walk(value, reached) ?? value };
}

/** Whether a path names the whole answer, so that an answer that is not JSON has it, too. */
export function isWholePath(path: string): boolean {
  return stepsOf(path).join('.') === 'response';
}

function walk(value: Json, steps: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const step of steps) found = found === undefined ? undefined : stepInto(found, step);
  return found;
}

function stepInto(value: Json, step: string): Json | undefined {
  if (Array.isArray(value)) return /^-?\d+$/.test(step) ? value.at(Number(step)) : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function stepsOf(path: string): readonly string[] {
  const steps = path.trim().matchAll(/\[(?:"([^"]*)"|'([^']*)'|(-?\d+))\]|([^.[\]]+)/g);
  return [...steps].map(([, double, single, index, key]) => double ?? single ?? index ?? key ?? '');
}
