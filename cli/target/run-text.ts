import { textOf } from '../../domain/json.ts';
import type { ToolCall } from '../../domain/transcript.ts';
import { countOf, duration } from '../render/numbers.ts';
import { createStyle, type Style } from '../render/style.ts';
import { oneLine, safeText } from '../render/text.ts';
import type { Reading } from './readings.ts';
import type { ShownExchange, ShownRun, ShownStep, ToldMessage } from './shown-run.ts';

const longestBody = 2_000;
const longestText = 1_000;

/** A dry run for people: each call as it was sent, what came back, and what was read out of it. */
export function dryRunText(run: ShownRun, shell: { readonly hasColour: boolean }): string {
  const style = createStyle(shell);
  const variant = run.variant === undefined ? '' : ` (variant ${run.variant})`;
  const steps = run.steps.flatMap((step, index) => stepLines(step, index + 1, style));
  return `${[`${run.target} target${variant}, scenario ${run.scenario}`, ...steps, '', verdictOf(run, style)].join('\n')}\n`;
}

function verdictOf({ ok, steps, trouble }: ShownRun, style: Style): string {
  const isTold = trouble === undefined || steps.some(({ fault }) => fault?.message === trouble);
  const why = isTold ? '' : ` ${oneLine(cutText(trouble, longestText))}`;
  if (!ok) return style.red(`The target did not answer as the file says.${why}`);
  const nowhere = steps.flatMap(({ paths }) => paths).filter(({ reach }) => reach !== undefined).length;
  if (nowhere > 0)
    return style.yellow(`The target answers, but ${countOf(nowhere, 'path')} of the file led nowhere.`);
  return style.green('The target answers as the file says.');
}

function stepLines(step: ShownStep, number: number, style: Style): readonly string[] {
  return [
    '',
    style.bold(`${number}. ${titleOf(step)}`),
    ...(step.told ?? []).flatMap((message) => indented(toldText(message))),
    // The messages of a chat target are what its request holds.
    ...(step.told === undefined ? step.requests.flatMap((request) => exchangeLines(request, style)) : []),
    ...(step.fault === undefined ? readLines(step) : []),
    ...step.paths.flatMap(({ name, path, reach }) =>
      reach === undefined ? [] : [`   nothing at ${path} (${name}): ${reach}`],
    ),
    ...faultLines(step, style),
  ];
}

function titleOf({ step, message }: ShownStep): string {
  switch (step) {
    case 'start':
      return 'start the session';
    case 'greeting':
      return 'listen to the greeting';
    case 'message':
      return `say: ${cutText(oneLine(message ?? ''), longestText)}`;
    case 'model':
      return 'ask the model';
    case 'end':
      return 'end the session';
  }
}

function toldText({ role, content, tool_calls = [] }: ToldMessage): string {
  const said = cutText(safeText(content), longestText);
  return `${role}: ${[said, ...tool_calls.map(callText)].filter((part) => part !== '').join(' ')}`;
}

function callText({ name, args }: ToolCall): string {
  return oneLine(`${name}(${args === undefined ? '' : textOf(args)})`);
}

function exchangeLines(exchange: ShownExchange, style: Style): readonly string[] {
  const { method, url, headers, body, status, answer, error, ms } = exchange;
  const time = ms === undefined ? '' : ` in ${duration(ms)}`;
  return [
    `   ${method} ${safeText(url)}`,
    ...Object.entries(headers).map(([name, value]) => style.dim(`   ${name}: ${oneLine(value)}`)),
    ...(body === undefined ? [] : indented(cutText(safeText(body), longestBody))),
    ...(status === undefined ? [] : [`   -> ${status}${time}`]),
    ...(answer === undefined ? [] : indented(cutText(safeText(answer), longestBody))),
    ...(error === undefined ? [] : [`   -> no whole answer${time}: ${oneLine(error)}`]),
  ];
}

function readLines({ read, paths }: ShownStep): readonly string[] {
  if (read === undefined) return [];
  const from = (name: Reading['name']) => {
    const path = paths.find((reading) => reading.name === name)?.path;
    return path === undefined ? '' : ` (${path})`;
  };
  const { text, session_id, tool_calls = [], metadata } = read;
  return [
    ...(session_id === undefined ? [] : [`   session id${from('session_id')}: ${oneLine(session_id)}`]),
    ...(text === undefined || text === ''
      ? []
      : indented(`reply${from('reply')}: ${cutText(safeText(text), longestText)}`)),
    ...tool_calls.map((call) => `   tool call${from('tool_calls')}: ${callText(call)}`),
    ...(metadata === undefined
      ? []
      : [`   metadata${from('metadata')}: ${oneLine(cutText(textOf(metadata), longestText))}`]),
  ];
}

function faultLines({ fault }: ShownStep, style: Style): readonly string[] {
  if (fault === undefined) return [];
  return [style.red(`   ${fault.code}: ${oneLine(cutText(fault.message, longestText))}`)];
}

function indented(text: string): readonly string[] {
  return text.split('\n').map((line) => `   ${line}`);
}

function cutText(text: string, longest: number): string {
  return text.length > longest
    ? `${text.slice(0, longest)}... (${text.length - longest} more characters)`
    : text;
}
