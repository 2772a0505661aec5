import { shortNumber } from '../../domain/measure.ts';
import { type Outcome, outcomes } from '../../domain/outcome.ts';
import { type CheckReport, checkSetText, type Report, type ThresholdReport } from '../../domain/report.ts';
import type { PlayedRun } from '../../domain/sample.ts';
import type { Failure, ScenarioRow } from '../../domain/scenario-row.ts';
import { roles } from '../../domain/usage.ts';
import { causeText } from './cause.ts';
import { nextCommand } from './next-command.ts';
import { count, countOf, duration, money, percent, percentRange, shortCount } from './numbers.ts';
import { createStyle, paintWord, type Style } from './style.ts';
import { type Column, table } from './table.ts';
import { oneLine, wrap } from './text.ts';

/** Where the summary is shown: a shell. */
export type SummaryPlace = { readonly columns: number; readonly hasColour: boolean };

type View = {
  readonly report: Report;
  readonly runs: readonly PlayedRun[];
  readonly columns: number;
  readonly style: Style;
};

const mostScenarios = 12;
const mostThresholds = 12;
const mostFlaky = 8;
const mostFaults = 8;
const mostChecks = 20;

/**
 * The report for people, the gate first. Fits 80 columns and any number of scenarios: what is too much is named with
 * the command that shows it. `runs` are those of the report.
 */
export function summary(report: Report, place: SummaryPlace, runs: readonly PlayedRun[]): string {
  const view = { report, runs, columns: place.columns, style: createStyle(place) };
  const sections = [
    headSection(view),
    thresholdSection(view),
    scenarioSection(view),
    faultSection(view),
    flakySection(view),
    checkSection(view),
    costSection(view),
    endSection(view),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function headSection({ report, columns, style }: View): readonly string[] {
  const { gate, gate_reason: reason, runs, pass_rate: rate, halted } = report;
  const range = rate.interval === null ? '' : ` (95 %: ${percentRange(rate.interval)})`;
  const took =
    report.started_at === null || report.ended_at === null
      ? ''
      : `, ${duration(report.ended_at - report.started_at)}`;
  const [first = '', ...more] = wrap(`Gate ${gate.toUpperCase()}: ${oneLine(reason)}`, columns);
  return [
    [style.bold(paintGate(style, gate, first)), ...more].join('\n'),
    ...wrap(`${report.sweep}: ${countOf(runs.planned, 'run')}${took}`, columns),
    `${countsText(runs)}; pass rate ${percent(rate.value)}${range}`,
    ...(halted === null
      ? []
      : wrap(`Halted (${halted.reason}): ${oneLine(halted.detail)}`, columns).map(style.yellow)),
    ...(report.cancelled ? [style.yellow('Cancelled before its end')] : []),
    ...(report.check_set === null ? [] : wrap(oneLine(checkSetText(report.check_set)), columns)),
  ];
}

function paintGate(style: Style, gate: string, line: string): string {
  const word = gate.toUpperCase();
  return line.replace(word, paintWord(style, word));
}

/** `51 passed, 7 failed, 2 broken`. */
export function countsText(counts: { readonly [outcome in Outcome]: number }): string {
  const parts = outcomes.flatMap((outcome) =>
    counts[outcome] === 0 ? [] : [`${count(counts[outcome])} ${outcome}`],
  );
  return parts.length === 0 ? 'no runs' : parts.join(', ');
}

function section(
  { columns, style }: View,
  title: string,
  shape: readonly Column[],
  rows: readonly (readonly (string | number)[])[],
  lines = 1,
): readonly string[] {
  return rows.length === 0 ? [] : [style.bold(title), ...table(shape, rows, { columns, lines })];
}

const gateOrder = ['shut', 'undecided', 'open'];

function thresholdSection(view: View): readonly string[] {
  const all = view.report.thresholds.toSorted(
    (a, b) => gateOrder.indexOf(a.verdict) - gateOrder.indexOf(b.verdict),
  );
  // Items' own thresholds that are met may be thousands, and say nothing that the count does not.
  const told = all.filter(({ scenario, verdict }) => scenario === undefined || verdict !== 'open');
  const rows = told.slice(0, mostThresholds).map(thresholdCells);
  const more = all.length - rows.length;
  return [
    ...section(
      view,
      'Thresholds',
      [{ paint: (text) => paintWord(view.style, text) }, { widest: 44 }, {}],
      rows,
      2,
    ),
    ...(more === 0 ? [] : [moreLine(view, more)]),
  ];
}

function thresholdCells(threshold: ThresholdReport): readonly string[] {
  const { text, scenario, verdict, interval, reason, covered_by: cover } = threshold;
  const name = scenario === undefined ? text : `${text} of ${scenario}`;
  const bounds = interval === null ? '' : ` [${interval.map(shortNumber).join(', ')}]`;
  return [verdict, name, `${reason}${bounds}${cover === undefined ? '' : `; covered by ${cover}`}`];
}

/** Those with failed runs first, the worst rate first; then those of which something is not known. */
function troubled(rows: readonly ScenarioRow[]): readonly ScenarioRow[] {
  const rate = ({ runs }: ScenarioRow) => (runs.failed === 0 ? 2 : runs.passed / (runs.passed + runs.failed));
  return rows.filter(({ failure }) => failure !== undefined).toSorted((a, b) => rate(a) - rate(b));
}

function scenarioSection(view: View): readonly string[] {
  const { report } = view;
  const rows = troubled(report.scenarios);
  const shown = rows.slice(0, mostScenarios);
  return [
    ...section(
      view,
      `Scenarios to look at: ${count(rows.length)} of ${count(report.scenarios.length)}`,
      [{ widest: 28 }, { head: 'passed', align: 'right' }, { head: 'first cause' }],
      shown.map((row) => [
        nameOf(row),
        `${row.runs.passed}/${row.runs.planned}`,
        row.failure === undefined ? '' : failureText(row.failure),
      ]),
      2,
    ),
    ...(rows.length > shown.length ? [moreLine(view, rows.length - shown.length)] : []),
    ...(shown[0]?.failure === undefined ? [] : [view.style.dim(`  regatta show ${shown[0].failure.run}`)]),
  ];
}

function moreLine({ report, style }: View, more: number): string {
  return style.dim(`  and ${count(more)} more: regatta report ${report.sweep} --markdown -`);
}

function nameOf({ scenario, variant }: ScenarioRow): string {
  return variant === undefined ? scenario : `${scenario}@${variant}`;
}

function failureText(failure: Failure): string {
  const cause = causeText(failure);
  return failure.outcome === 'failed' ? cause : `${failure.outcome}, ${cause}`;
}

type FaultGroup = {
  readonly code: string;
  readonly endpoint: string;
  readonly message: string;
  runs: number;
};

function faultSection(view: View): readonly string[] {
  const groups = new Map<string, FaultGroup>();
  for (const { result } of view.runs) {
    if (result?.outcome !== 'broken') continue;
    const { code = 'bug', endpoint = '', message = '' } = result.fault ?? {};
    const key = `${code} ${endpoint}`;
    const group = groups.get(key) ?? { code, endpoint, message, runs: 0 };
    group.runs += 1;
    groups.set(key, group);
  }
  const all = [...groups.values()].toSorted((a, b) => b.runs - a.runs);
  const rows = all
    .slice(0, mostFaults)
    .map(({ code, endpoint, message, runs }) => [count(runs), code, endpoint, message]);
  return [
    ...section(
      view,
      `Broken runs: ${count(view.report.runs.broken)}`,
      [{ align: 'right' }, {}, {}, {}],
      rows,
      2,
    ),
    ...(all.length > rows.length ? [moreLine(view, all.length - rows.length)] : []),
    ...retriesLine(view),
  ];
}

function retriesLine({ report, columns }: View): readonly string[] {
  const codes = Object.entries(report.retries).toSorted(([, a], [, b]) => b - a);
  if (codes.length === 0) return [];
  return wrap(
    `Calls tried again: ${codes.map(([code, times]) => `${code} ${count(times)}`).join(', ')}`,
    columns,
  );
}

function flakySection(view: View): readonly string[] {
  const flaky = view.report.scenarios.filter((row) => row.flaky);
  if (flaky.length === 0) return [];
  const shown = flaky
    .slice(0, mostFlaky)
    .map((row) => `${oneLine(nameOf(row))} ${row.runs.passed}/${row.runs.planned}`);
  const more = flaky.length > mostFlaky ? `, and ${count(flaky.length - mostFlaky)} more` : '';
  const title = `Flaky scenarios (some runs passed, others failed): ${count(flaky.length)}`;
  return [view.style.bold(title), ...wrap(`${shown.join(', ')}${more}`, view.columns - 2).map(indented)];
}

function indented(line: string): string {
  return `  ${line}`;
}

function checkSection(view: View): readonly string[] {
  const { checks } = view.report;
  const shape: readonly Column[] = [
    { widest: 24 },
    { head: 'passed', align: 'right' },
    { head: 'rate', align: 'right' },
    { head: '95 %', align: 'right' },
    { head: 'mean', align: 'right' },
    { head: 'missing', align: 'right' },
  ];
  return [
    ...section(view, 'Checks', shape, checks.slice(0, mostChecks).map(checkCells)),
    ...(checks.length > mostChecks ? [moreLine(view, checks.length - mostChecks)] : []),
  ];
}

function checkCells(check: CheckReport): readonly string[] {
  const { value, interval } = check.pass_rate;
  return [
    `${check.check}${check.required ? '' : ' (soft)'}`,
    `${count(check.passed)}/${count(check.passed + check.failed)}`,
    percent(value),
    percentRange(interval),
    check.mean_score === null ? '-' : shortNumber(check.mean_score),
    count(check.missing),
  ];
}

function costSection({ report, columns, style }: View): readonly string[] {
  const { usage, reply_seconds: latency } = report;
  const about = usage.estimated ? ' (partly estimated)' : '';
  const byRole = roles.flatMap((role) => {
    const { calls, cost_usd: usd } = usage.by_role[role];
    return calls === 0 ? [] : [`${role} ${money(usd)} in ${count(calls)}`];
  });
  const lines = [
    `${money(usage.cost_usd)}${about}; tokens: ${shortCount(usage.input_tokens)} in, ${shortCount(usage.output_tokens)} out`,
    `${countOf(usage.calls, 'call')}: ${count(usage.wasted_calls)} wasted, ${countOf(usage.probe_calls, 'probe')} besides`,
    ...(byRole.length === 0 ? [] : [byRole.join(', ')]),
    ...(latency.p50 === null
      ? []
      : [
          `Replies: p50 ${time(latency.p50)}, p90 ${time(latency.p90)}, p95 ${time(latency.p95)}, p99 ${time(latency.p99)}, max ${time(latency.max)}`,
        ]),
    ...disturbedLine(report),
  ];
  return [style.bold('Cost and time'), ...lines.flatMap((line) => wrap(line, columns - 2)).map(indented)];
}

function time(seconds: number | null): string {
  return seconds === null ? '-' : duration(seconds * 1_000);
}

function disturbedLine({ disturbances }: Report): readonly string[] {
  const { resumptions, resent, restarted, marked_messages: marked, sessions_left_open: open } = disturbances;
  const parts = [
    [resumptions, 'resumed'],
    [resent, 'resent'],
    [restarted, 'restarted'],
    [marked, 'odd driver messages kept'],
    [open, 'sessions left open'],
  ] as const;
  const texts = parts.flatMap(([times, what]) => (times === 0 ? [] : [`${count(times)} ${what}`]));
  return texts.length === 0 ? [] : [`Disturbances: ${texts.join(', ')}`];
}

function endSection({ report }: View): readonly string[] {
  const next = nextCommand(report);
  return next === undefined ? [] : [`To go on: ${next}`];
}
