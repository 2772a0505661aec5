import { isMissing } from '../domain/outcome.ts';
import { checkSetText, type Report } from '../domain/report.ts';
import type { PlayedRun } from '../domain/sample.ts';
import {
  type Failure,
  failureOf,
  outcomeOfRun,
  runsByScenario,
  scenarioKey,
  tellingRun,
} from '../domain/scenario-row.ts';

// What XML 1.0 cannot hold even as a reference: control characters, lone surrogates, non-characters.
const impossible = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Text as it may stand in an XML attribute; what XML cannot hold becomes U+FFFD. */
export function escapeXml(text: string): string {
  return text.replace(impossible, '\u{FFFD}').replace(/[&<>"'\t\n\r]/g, (sign) => references[sign] ?? sign);
}

type Attributes = Readonly<Record<string, string | number>>;

function element(name: string, attributes: Attributes, children: readonly string[] = []): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`);
  const start = `<${name}${written.join('')}`;
  return children.length === 0 ? `${start}/>` : `${start}>\n${children.join('\n')}\n</${name}>`;
}

/** Text between tags keeps its line ends. */
function textElement(name: string, attributes: Attributes, lines: readonly string[]): string {
  return element(
    name,
    attributes,
    lines.map((line) => escapeXml(line)),
  );
}

type Case = {
  readonly xml: string;
  readonly kind: 'passed' | 'failures' | 'errors' | 'skipped';
  readonly ms: number;
};

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** `turn 3, check polite: reason` */
function describeFailure({ check, turn, reason }: Failure): string {
  const place = [
    turn === undefined ? [] : [`turn ${turn}`],
    check === undefined ? [] : [`check ${check}`],
  ].flat();
  return place.length === 0 ? reason : `${place.join(', ')}: ${reason}`;
}

function propertyOf(run: PlayedRun): string {
  const failure = failureOf(run);
  const outcome = outcomeOfRun(run);
  const value = failure === undefined ? outcome : `${outcome}: ${describeFailure(failure)}`;
  return element('property', { name: `repeat ${run.plan.repeat}`, value });
}

function verdictOf(runs: readonly PlayedRun[]): Pick<Case, 'kind'> & { readonly xml?: string } {
  const telling = tellingRun(runs);
  const failure = telling === undefined ? undefined : failureOf(telling);
  if (telling === undefined || failure === undefined) {
    return runs.every((run) => outcomeOfRun(run) === 'skipped')
      ? { kind: 'skipped', xml: element('skipped', {}) }
      : { kind: 'passed' };
  }
  const outcome = outcomeOfRun(telling);
  const lines = runs.flatMap((run) => {
    const cause = failureOf(run);
    return cause === undefined
      ? []
      : [`repeat ${run.plan.repeat} ${outcomeOfRun(run)}: ${describeFailure(cause)}`];
  });
  const message = describeFailure(failure);
  if (outcome === 'failed') {
    const type = failure.check ?? 'target_error';
    return { kind: 'failures', xml: textElement('failure', { message, type }, lines) };
  }
  const type = isMissing(outcome) ? (telling.result?.fault?.code ?? outcome) : 'undecided';
  return { kind: 'errors', xml: textElement('error', { message, type }, lines) };
}

/** One case a scenario (and variant); where its own threshold is open, it has passed with whatever repeats failed. */
function caseOf(sweep: string, runs: readonly PlayedRun[], isMet: boolean): Case {
  const ms = runs.reduce((sum, { result }) => sum + (result?.playMs ?? 0), 0);
  const verdict = isMet ? ({ kind: 'passed' } as const) : verdictOf(runs);
  const [first] = runs;
  const attributes = {
    classname: sweep,
    name: first === undefined ? '' : scenarioKey(first),
    time: seconds(ms),
  };
  const children = [
    element('properties', {}, runs.map(propertyOf)),
    ...('xml' in verdict ? [verdict.xml] : []),
  ];
  return {
    xml: element(
      'testcase',
      attributes,
      children.filter((child) => child !== undefined),
    ),
    kind: verdict.kind,
    ms,
  };
}

/**
 * JUnit XML: one case a scenario (and variant) with its repeats as properties; failed is a failure that names the
 * first failing turn and check, broken, cancelled and unplayed are errors, undecided an error of the type `undecided`.
 */
export function formatJunit(report: Report, runs: readonly PlayedRun[]): string {
  const met = new Set(
    report.thresholds.flatMap(({ scenario, verdict }) =>
      verdict === 'open' && scenario !== undefined ? [scenario] : [],
    ),
  );
  const cases = runsByScenario(runs).map((group) =>
    caseOf(report.name, group, met.has(group[0]?.plan.scenario ?? '')),
  );
  const count = (kind: Case['kind']) => cases.filter((one) => one.kind === kind).length;
  const totals = {
    tests: cases.length,
    failures: count('failures'),
    errors: count('errors'),
    skipped: count('skipped'),
    time: seconds(cases.reduce((sum, { ms }) => sum + ms, 0)),
  };
  const properties = element('properties', {}, [
    element('property', { name: 'sweep', value: report.sweep }),
    element('property', { name: 'gate', value: `${report.gate}: ${report.gate_reason}` }),
    ...(report.check_set === null
      ? []
      : [element('property', { name: 'checks', value: checkSetText(report.check_set) })]),
    ...report.thresholds.map(({ text, verdict, reason }) =>
      element('property', { name: `threshold ${text}`, value: `${verdict}: ${reason}` }),
    ),
  ]);
  const suite = element('testsuite', { name: report.name, ...totals }, [
    properties,
    ...cases.map(({ xml }) => xml),
  ]);
  const suites = element('testsuites', { name: report.sweep, ...totals }, [suite]);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${suites}\n`;
}
