import { shortNumber } from '../domain/measure.ts';
import { outcomes } from '../domain/outcome.ts';
import { checkSetText, type Estimate, type Report, type ThresholdReport } from '../domain/report.ts';
import type { Failure, ScenarioRow } from '../domain/scenario-row.ts';

const longestCell = 200;
const [mostScenarios, mostGroups] = [50, 20];

/** Text that Markdown shows as it is, in one line. */
function plain(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const cut = line.length > longestCell ? `${line.slice(0, longestCell - 3)}...` : line;
  // A zero-width space keeps a name from becoming a mention, which would notify somebody.
  return cut.replace(/[\\`*_{}[\]<>|#~$&]/g, '\\$&').replaceAll('@', '@\u200B');
}

/** Text as code: nothing in it is read, pipes of tables apart. */
function code(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const fence = line.includes('`') ? '``' : '`';
  const inner = fence === '`' ? line : ` ${line.replaceAll('``', "''")} `;
  return `${fence}${inner.replaceAll('|', '\\|')}${fence}`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A table; nothing where it has no rows. */
function table(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  if (rows.length === 0) return [];
  return ['', `## ${title}`, '', row(head), row(head.map(() => '---')), ...rows.map(row)];
}

function share(value: number | null): string {
  return value === null ? '-' : `${shortNumber(value * 100)} %`;
}

function estimate({ value, interval }: Estimate): string {
  if (value === null || interval === null) return share(value);
  return `${share(value)} (${shortNumber(interval[0] * 100)} to ${shortNumber(interval[1] * 100)})`;
}

function money(usd: number): string {
  return usd > 0 && usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

function countsText(runs: Report['runs']): string {
  const parts = outcomes
    .filter((outcome) => runs[outcome] > 0)
    .map((outcome) => `${runs[outcome]} ${outcome}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function thresholdRows(threshold: ThresholdReport): readonly (readonly string[])[] {
  const { text, verdict, reason, scenario, covered_by: cover } = threshold;
  const name = `${code(text)}${scenario === undefined ? '' : ` of ${code(scenario)}`}`;
  const covered = cover === undefined ? '' : `; does not count: ${code(cover)} is open`;
  const bad = (threshold.groups ?? []).filter((group) => group.verdict !== 'open');
  return [
    [verdict, name, `${plain(reason)}${covered}`],
    ...bad
      .slice(0, mostGroups)
      .map((group) => [group.verdict, `- ${code(group.group)}`, plain(group.reason)]),
  ];
}

function failureText({ check, turn, reason }: Failure): string {
  const place = [turn === undefined ? '' : `turn ${turn}`, check === undefined ? '' : code(check)].filter(
    (part) => part !== '',
  );
  return place.length === 0 ? plain(reason) : `${place.join(', ')}: ${plain(reason)}`;
}

/** Failing ones first, the worst rate first; then those of which nothing is known. */
function troubled(rows: readonly ScenarioRow[]): readonly ScenarioRow[] {
  const rate = ({ runs }: ScenarioRow) => runs.passed / Math.max(1, runs.passed + runs.failed);
  const isFailing = ({ runs }: ScenarioRow) => (runs.failed > 0 ? 0 : 1);
  return rows
    .filter(({ failure }) => failure !== undefined)
    .toSorted((a, b) => isFailing(a) - isFailing(b) || rate(a) - rate(b));
}

function scenarioCells(scenario: ScenarioRow): readonly string[] {
  const { variant, runs, flaky, failure } = scenario;
  const name = code(variant === undefined ? scenario.scenario : `${scenario.scenario}@${variant}`);
  return [
    `${name}${flaky ? ' (flaky)' : ''}`,
    `${runs.passed} of ${runs.planned}`,
    countsText({ ...runs, passed: 0 }),
    failure === undefined ? '' : failureText(failure),
  ];
}

function codeRows({ faults, retries }: Report): readonly (readonly string[])[] {
  const codes = [...new Set([...Object.keys(faults), ...Object.keys(retries)])].sort();
  return codes.map((name) => [code(name), String(faults[name] ?? 0), String(retries[name] ?? 0)]);
}

function usageLine({ usage, reply_seconds: latency }: Report): string {
  const about = usage.estimated ? ' (partly estimated)' : '';
  const wasted = usage.wasted_calls === 0 ? '' : `, ${usage.wasted_calls} of them wasted`;
  const cost = `${money(usage.cost_usd)}${about}, ${usage.calls} calls${wasted}, ${usage.input_tokens} tokens in, ${usage.output_tokens} out.`;
  return latency.p50 === null || latency.p95 === null
    ? cost
    : `${cost} Replies: ${shortNumber(latency.p50)} s at p50, ${shortNumber(latency.p95)} s at p95.`;
}

/** Markdown for a pull request: the gate, thresholds, scenarios in trouble first, checks, faults, cost. */
export function formatMarkdown(report: Report): string {
  const { runs, halted, scenarios } = report;
  const bad = troubled(scenarios);
  const more = bad.length - mostScenarios;
  const lines = [
    `# ${plain(report.name)}: gate ${report.gate}`,
    '',
    `${plain(report.gate_reason)}. Sweep ${code(report.sweep)}: ${runs.planned} runs planned, ${countsText(runs)}; pass rate ${estimate(report.pass_rate)}.`,
    ...(halted === null ? [] : ['', `Halted (${plain(halted.reason)}): ${plain(halted.detail)}`]),
    ...(report.cancelled ? ['', 'Cancelled before its end.'] : []),
    ...(report.check_set === null ? [] : ['', `${plain(checkSetText(report.check_set))}.`]),
    ...table('Thresholds', ['verdict', 'threshold', 'measured'], report.thresholds.flatMap(thresholdRows)),
    ...table(
      'Scenarios to look at',
      ['scenario', 'passed', 'else', 'first failure'],
      bad.slice(0, mostScenarios).map(scenarioCells),
    ),
    ...(more > 0 ? ['', `... and ${more} more.`] : []),
    ...table(
      'Checks',
      ['check', 'pass rate (95 %)', 'mean score', 'missing'],
      report.checks.map((check) => [
        `${code(check.check)}${check.required ? '' : ' (soft)'}`,
        estimate(check.pass_rate),
        check.mean_score === null ? '-' : shortNumber(check.mean_score),
        String(check.missing),
      ]),
    ),
    ...table('Faults', ['code', 'runs or checks', 'calls tried again'], codeRows(report)),
    '',
    '## Cost',
    '',
    usageLine(report),
  ];
  return `${lines.join('\n')}\n`;
}
