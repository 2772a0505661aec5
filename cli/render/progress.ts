import { type Outcome, outcomes } from '../../domain/outcome.ts';
import { endedRuns, type Tally } from '../../domain/tally.ts';
import type { SweepProgress } from '../../workflows/messages.ts';
import type { Shell } from '../shell.ts';
import type { Sighting } from '../sweep/follow.ts';
import { count, duration, money, pace, percent } from './numbers.ts';
import { createStyle, type Style } from './style.ts';
import { cut, oneLine, widthOf } from './text.ts';

/** How many runs had ended at a moment, in epoch milliseconds. */
export type Mark = { readonly at: number; readonly ended: number };

/** Shows how a sweep goes until `end`. */
export type Progress = {
  show(sighting: Sighting): void;
  end(): void;
};

type ProgressShell = Pick<Shell, 'stderr' | 'isTerminal' | 'hasColour' | 'columns' | 'now'>;

/** Progress on stderr: redrawn in place on a terminal, else a line every 5 s in which something changed. */
export function createProgress(shell: ProgressShell): Progress {
  const marks = createMarks(shell.now);
  return shell.isTerminal ? createLiveProgress(shell, marks) : createLoggedProgress(shell, marks);
}

// The rate is that of the last minute: an ETA must follow a provider that slows down.
const rateWindowMs = 60_000;

function createMarks(now: () => number) {
  let marks: readonly Mark[] = [];
  return (progress: SweepProgress): readonly Mark[] => {
    const at = now();
    marks = [
      ...marks.filter((mark) => mark.at > at - rateWindowMs),
      { at, ended: endedRuns(progress.tally) },
    ];
    return marks;
  };
}

type Marks = ReturnType<typeof createMarks>;

function createLiveProgress(shell: ProgressShell, marks: Marks): Progress {
  const style = createStyle(shell);
  let last: SweepProgress | undefined;
  let history: readonly Mark[] = [];
  let isShown = false;
  return {
    show({ progress, trouble }) {
      if (progress !== undefined) history = marks(progress);
      last = progress ?? last;
      isShown = true;
      shell.stderr.write(drawn(progressLines({ progress: last, trouble, history }, shell.columns, style)));
    },
    end() {
      if (isShown) shell.stderr.write(clearBelow);
      isShown = false;
    },
  };
}

const clearBelow = '\r\u001B[J';

/**
 * Lines under an empty one in which the cursor then rests: what others print meanwhile goes there and stays, and
 * however a resized terminal has broken the lines, all of them lie below. Lines are not wrapped, so that the way back
 * up is known.
 */
function drawn(lines: readonly string[]): string {
  return `${clearBelow}\n\u001B[?7l${lines.join('\n')}\u001B[?7h\u001B[${lines.length}A\r`;
}

const logEveryMs = 5_000;

function createLoggedProgress(shell: ProgressShell, marks: Marks): Progress {
  let logged = { at: -Infinity, facts: '' };
  return {
    show({ progress, trouble }) {
      const history = progress === undefined ? [] : marks(progress);
      const facts = JSON.stringify([progress?.state, progress?.open, progress?.tally, trouble]);
      if (facts === logged.facts || shell.now() - logged.at < logEveryMs) return;
      logged = { at: shell.now(), facts };
      const parts = [
        ...(progress === undefined ? [] : loggedParts(progress, history)),
        ...(trouble === undefined ? [] : [oneLine(trouble)]),
      ];
      shell.stderr.write(`${parts.join(', ')}\n`);
    },
    end() {},
  };
}

function loggedParts(progress: SweepProgress, history: readonly Mark[]): readonly string[] {
  return [
    `${stateText(progress)}: ${doneText(progress)}`,
    ...speedTexts(progress, history),
    spendText(progress),
    ...(progress.open > 0 ? [`${count(progress.open)} open`] : []),
    ...outcomeTexts(progress.tally).map(({ text }) => text),
    ...faultTexts(progress.tally),
  ];
}

export type ProgressView = {
  readonly progress: SweepProgress | undefined;
  readonly trouble?: string | undefined;
  readonly history: readonly Mark[];
};

/** One to three lines of at most `columns - 1` columns: bar, rate, ETA and spend; outcomes and faults; what is wrong. */
export function progressLines(
  { progress, trouble, history }: ProgressView,
  columns: number,
  style: Style,
): readonly string[] {
  // The last column stays free: in some terminals a sign there begins the next line.
  const width = columns - 1;
  const wrong = trouble === undefined ? [] : [style.yellow(cut(oneLine(trouble), width))];
  if (progress === undefined) return wrong;
  return [barLine(progress, history, width, style), ...detailLine(progress.tally, width, style), ...wrong];
}

const [widestBar, narrowestBar] = [30, 10];

function barLine(progress: SweepProgress, history: readonly Mark[], width: number, style: Style): string {
  const parts = [
    doneText(progress),
    ...speedTexts(progress, history),
    spendText(progress),
    ...(progress.open > 0 ? [`${count(progress.open)} open`] : []),
    ...(progress.state === 'running' ? [] : [stateText(progress)]),
  ];
  const text = parts.join('  ');
  const room = Math.min(widestBar, width - widthOf(text) - 1);
  if (room < narrowestBar) return cut(text, width);
  const done = endedRuns(progress.tally);
  const filled =
    progress.runs === 0 ? room : Math.floor((room * Math.min(done, progress.runs)) / progress.runs);
  return `${style.green('━'.repeat(filled))}${style.dim('─'.repeat(room - filled))} ${text}`;
}

function detailLine(tally: Tally, width: number, style: Style): readonly string[] {
  const found = outcomeTexts(tally);
  const texts = [...found.map(({ text }) => text), ...faultTexts(tally)];
  const line = cut(texts.join('  '), width);
  if (line === '') return [];
  // Painted after it was cut: a colour that lost its end would run on.
  const hue = { passed: style.green, failed: style.red } as const;
  return [
    found.reduce((text, { outcome, text: part }) => {
      return outcome === 'passed' || outcome === 'failed' ? text.replace(part, hue[outcome]) : text;
    }, line),
  ];
}

function doneText({ tally, runs }: SweepProgress): string {
  const done = endedRuns(tally);
  return `${count(done)}/${count(runs)}${runs === 0 ? '' : ` ${percent(Math.floor((done / runs) * 100) / 100)}`}`;
}

function speedTexts({ tally, runs, state }: SweepProgress, history: readonly Mark[]): readonly string[] {
  const [first, last] = [history[0], history.at(-1)];
  if (first === undefined || last === undefined || state !== 'running') return [];
  const [ended, ms] = [last.ended - first.ended, last.at - first.at];
  if (ended <= 0 || ms < 1_000) return [];
  const left = runs - endedRuns(tally);
  return [
    pace((ended / ms) * 1_000),
    ...(left > 0 ? [`ETA ${duration(Math.max(1_000, (left * ms) / ended))}`] : []),
  ];
}

function spendText({ tally, budgetUsd }: SweepProgress): string {
  return budgetUsd === undefined ? money(tally.usd) : `${money(tally.usd)} of ${money(budgetUsd)}`;
}

function stateText({ state, halt }: SweepProgress): string {
  return halt === undefined ? state : `${state} (${halt.reason})`;
}

function outcomeTexts({
  outcomes: counts,
}: Tally): readonly { readonly outcome: Outcome; readonly text: string }[] {
  return outcomes.flatMap((outcome) => {
    const found = counts[outcome] ?? 0;
    return found === 0 ? [] : [{ outcome, text: `${count(found)} ${outcome}` }];
  });
}

function faultTexts({ faults, tried }: Tally): readonly string[] {
  const codes = Object.entries(faults).toSorted(([, a], [, b]) => b - a);
  return [
    ...(codes.length === 0
      ? []
      : [`broken by ${codes.map(([code, found]) => `${code} ${count(found)}`).join(', ')}`]),
    ...(tried === 0 ? [] : [`${count(tried)} tried again`]),
  ];
}
