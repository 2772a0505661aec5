import { existsSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Report } from '../domain/report.ts';
import type { PlayedRun } from '../domain/sample.ts';
import { type Mistake, UsageError } from '../domain/usage-error.ts';
import { isYes } from './environment-flags.ts';
import type { Shell } from './shell.ts';

/** Files that a report is written to; `-` is stdout, and `json: true` means the same. */
export type ReportFlags = {
  readonly json?: string | true;
  readonly junit?: string;
  readonly markdown?: string;
  readonly csv?: string;
  readonly githubSummary?: true;
};

/** Adds the flags; `--json` takes a file where the report is all that the command is about. */
export function addReportFlags(command: Command, json: 'switch' | 'file' = 'switch'): Command {
  if (json === 'switch') command.option('--json', 'print the report as one object');
  else command.option('--json [file]', 'write the report as JSON (- or no file: stdout)', fileOrYes);
  return command
    .option('--junit <file>', 'write it as JUnit XML, one case a scenario (- is stdout)')
    .option('--markdown <file>', 'write it as Markdown (- is stdout)')
    .option('--csv <file>', 'write one row a run (- is stdout)')
    .option('--github-summary', 'add the Markdown to the summary of a GitHub job');
}

// REGATTA_JSON=1 turns the switch of every other command on: here it must not name a file.
function fileOrYes(text: string): string | true | undefined {
  if (['1', 'true', 'yes', 'on'].includes(text.toLowerCase())) return true;
  return isYes(text) ? text : undefined;
}

type Kind = 'json' | 'junit' | 'markdown' | 'csv';

const kinds: readonly Kind[] = ['json', 'junit', 'markdown', 'csv'];

function targetsOf(flags: ReportFlags): readonly { readonly kind: Kind; readonly file: string }[] {
  return kinds.flatMap((kind) => {
    const file = flags[kind];
    return file === undefined ? [] : [{ kind, file: file === true ? '-' : file }];
  });
}

/** Whether a report goes to stdout, so that nothing else may. */
export function takesStdout(flags: ReportFlags): boolean {
  return targetsOf(flags).some(({ file }) => file === '-');
}

/**
 * Says at once what would keep the reports from being written, before hours of playing are behind.
 * @throws UsageError for two reports on stdout, a folder that is not there, and a summary without a GitHub job.
 */
export function proveReportFlags(shell: Shell, flags: ReportFlags): void {
  const targets = targetsOf(flags);
  const mistakes: Mistake[] = [];
  const printed = targets.filter(({ file }) => file === '-').map(({ kind }) => `--${kind}`);
  if (printed.length > 1) {
    mistakes.push({
      message: `${printed.join(' and ')} cannot both go to stdout`,
      hint: 'give one of them a file',
    });
  }
  for (const { kind, file } of targets) {
    const folder = dirname(resolve(shell.cwd, file));
    if (file !== '-' && !existsSync(folder))
      mistakes.push({ message: `--${kind} ${file}: there is no folder ${folder}` });
  }
  if (flags.githubSummary && !shell.env.GITHUB_STEP_SUMMARY) {
    mistakes.push({
      message: '--github-summary: GITHUB_STEP_SUMMARY is not set',
      hint: 'GitHub sets it in the steps of a job',
    });
  }
  if (mistakes.length > 0) throw new UsageError(mistakes);
}

/**
 * Writes the report to every file that the flags name, relative to the current folder. `runs` are those of the report.
 * @throws UsageError that names the files that could not be written, after the others were.
 */
export async function writeReportFiles(
  shell: Shell,
  flags: ReportFlags,
  report: Report,
  runs: readonly PlayedRun[],
): Promise<void> {
  proveReportFlags(shell, flags);
  const mistakes: Mistake[] = [];
  const attempt = async (file: string, work: () => Promise<void>) => {
    await work().catch((error: unknown) => mistakes.push(unwritable(file, error)));
  };
  for (const { kind, file } of targetsOf(flags)) {
    const text = await formatAs(kind, report, runs);
    if (file === '-') for (const part of text) shell.stdout.write(part);
    else await attempt(file, () => writeFile(resolve(shell.cwd, file), text));
  }
  const summary = shell.env.GITHUB_STEP_SUMMARY;
  if (flags.githubSummary && summary) {
    const [markdown = ''] = await formatAs('markdown', report, runs);
    await attempt(summary, () => appendFile(summary, markdown));
  }
  if (mistakes.length > 0) throw new UsageError(mistakes);
}

/** The texts that make the file, one after the other. */
async function formatAs(kind: Kind, report: Report, runs: readonly PlayedRun[]): Promise<readonly string[]> {
  switch (kind) {
    case 'json':
      return [(await import('../formats/report-json.ts')).formatReportJson(report)];
    case 'junit':
      return [(await import('../formats/report-junit.ts')).formatJunit(report, runs)];
    case 'markdown':
      return [(await import('../formats/report-markdown.ts')).formatMarkdown(report)];
    case 'csv': {
      const { csvLines } = await import('../formats/report-csv.ts');
      return [
        ...csvLines(
          runs,
          report.checks.map(({ check }) => check),
        ),
      ];
    }
  }
}

function unwritable(file: string, error: unknown): Mistake {
  const reason = error instanceof Error ? error.message : String(error);
  return { message: `cannot write ${file}: ${reason}` };
}
