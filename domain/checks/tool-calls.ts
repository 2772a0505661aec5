import { equalJson, isJsonObject, type Json, textOf } from '../json.ts';
import type { ToolCall } from '../transcript.ts';
import { quote, quoteAll, shorten } from './quote.ts';
import { type Finding, yesOrNo } from './verdict.ts';

type Calls = readonly ToolCall[];

function called(calls: Calls): string {
  return calls.length === 0
    ? 'no tool was called'
    : `called: ${shorten(calls.map(({ name }) => name).join(', '))}`;
}

/** Whether all tools were called; `ordered`: in this order, others may lie between, and a repeated name counts twice. */
export function findCalls(calls: Calls, tools: readonly string[], ordered: boolean): Finding {
  const missing = ordered
    ? firstOutOfOrder(calls, tools)
    : tools.find((tool) => !calls.some(({ name }) => name === tool));
  if (missing === undefined) return yesOrNo(true, called(calls));
  const expected = ordered ? `expected in this order: ${tools.join(', ')}; ` : '';
  return yesOrNo(
    false,
    `${expected}${quote(missing)} was not called${ordered ? ' in its place' : ''}; ${called(calls)}`,
  );
}

function firstOutOfOrder(calls: Calls, tools: readonly string[]): string | undefined {
  let next = 0;
  for (const { name } of calls) if (name === tools[next]) next += 1;
  return tools[next];
}

/** Why nothing can be said of the arguments of a tool's calls: there was none, or none were captured. */
export function lackOfArgs(calls: Calls, tool: string): Finding | undefined {
  const ofTool = calls.filter(({ name }) => name === tool);
  if (ofTool.length === 0) return yesOrNo(false, `${quote(tool)} was never called; ${called(calls)}`);
  if (ofTool.some(({ args }) => args !== undefined)) return undefined;
  return yesOrNo(false, `${quote(tool)} was called, but its arguments were not captured`);
}

/** Whether none of the tools was called. */
export function findNoCalls(calls: Calls, tools: readonly string[]): Finding {
  const found = calls.find(({ name }) => tools.includes(name));
  if (found === undefined) return yesOrNo(true, `none of ${quoteAll(tools)} was called`);
  return yesOrNo(false, `${quote(found.name)} was called; ${called(calls)}`);
}

/** Whether there were at most so many calls, of one tool or in all. */
export function findFewCalls(calls: Calls, max: number, tool: string | undefined): Finding {
  const count = calls.filter(({ name }) => tool === undefined || name === tool).length;
  const what = tool === undefined ? 'tool calls' : `calls of ${quote(tool)}`;
  return yesOrNo(count <= max, `${count} ${what}, at most ${max} allowed`);
}

export type ArgsMatch = 'subset' | 'deep' | 'exact';

/**
 * Whether a call of the tool had these arguments: `subset`: each expected top-level key with an equal value, `deep`:
 * contained at every depth (lists item by item, of one length), `exact`: equal.
 */
export function findCallWithArgs(
  calls: Calls,
  expected: { readonly tool: string; readonly args: Json; readonly match: ArgsMatch },
): Finding {
  const { tool, args, match } = expected;
  const lack = lackOfArgs(calls, tool);
  if (lack !== undefined) return lack;
  const captured = calls.flatMap(({ name, args: seen }) =>
    name !== tool || seen === undefined ? [] : [seen],
  );
  const yes = captured.some((seen) => matchesArgs(seen, args, match));
  const wanted = shorten(textOf(args));
  if (yes) return yesOrNo(true, `${quote(tool)} was called with ${wanted}`);
  const seen = shorten(captured.map(textOf).join(', '));
  return yesOrNo(
    false,
    `${quote(tool)} was called with other arguments: expected (${match}) ${wanted}, seen ${seen}`,
  );
}

function matchesArgs(seen: Json, expected: Json, match: ArgsMatch): boolean {
  switch (match) {
    case 'exact':
      return equalJson(seen, expected);
    case 'deep':
      return containsJson(seen, expected);
    case 'subset':
      return everyKey(seen, expected, equalJson) ?? equalJson(seen, expected);
  }
}

function containsJson(seen: Json, expected: Json): boolean {
  if (Array.isArray(seen) && Array.isArray(expected)) {
    return (
      seen.length === expected.length && expected.every((item, at) => containsJson(seen[at] as Json, item))
    );
  }
  return everyKey(seen, expected, containsJson) ?? equalJson(seen, expected);
}

/** Whether each expected key is there and fits; undefined where one of both is no object. */
function everyKey(
  seen: Json,
  expected: Json,
  fits: (seen: Json, expected: Json) => boolean,
): boolean | undefined {
  if (!isJsonObject(seen) || !isJsonObject(expected)) return undefined;
  return Object.entries(expected).every(
    ([key, value]) => Object.hasOwn(seen, key) && fits(seen[key] as Json, value),
  );
}
