import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { resolveStore } from '../adapters/store.ts';
import { wordHint } from '../domain/closest.ts';
import { type Mistake, UsageError } from '../domain/usage-error.ts';
import { durationMs } from '../formats/durations.ts';
import { type LogLevel, logLevels } from './log.ts';
import type { Role } from './worker.ts';

/** What a worker was told, as it was written: flags, or their variables. */
export type WorkerFlags = {
  readonly project: string;
  readonly queue: string;
  readonly role: string;
  /** Several times, or separated by commas; likewise the variables and hosts. */
  readonly store: readonly string[];
  readonly allowEnv: readonly string[];
  readonly allowHost: readonly string[];
  readonly slots: string;
  /** Absent: the fleet shares the pace out. */
  readonly paceShare?: string;
  readonly grace: string;
  readonly metricsPort: string;
  readonly metricsHost: string;
  readonly logLevel: string;
};

export type WorkerSettings = {
  /** Folder of the user's modules. */
  readonly project: string;
  readonly queue: string;
  readonly role: Role;
  /** The stores that it opens, and what is in them; empty: those that sweeps name. */
  readonly stores: readonly string[];
  /** Names of environment variables, or patterns with `*`. */
  readonly allowEnv: readonly string[];
  /** Empty: every host. */
  readonly allowHost: readonly string[];
  /** Activities at once. */
  readonly slots: number;
  /** The part of each endpoint's pace that this process may use, above 0 to 1; absent: the fleet shares it out. */
  readonly paceShare?: number;
  /** How long conversations may take to stop once the worker drains. */
  readonly graceMs: number;
  /** Where metrics and health are served; absent: nowhere. Port 0: any free one. */
  readonly metrics?: { readonly host: string; readonly port: number };
  readonly logLevel: LogLevel;
};

export type WorkerConfig = WorkerSettings & {
  readonly temporal: { readonly connectionOptions: NativeConnectionOptions; readonly namespace: string };
};

export const roles: readonly Role[] = ['all', 'workflows', 'activities'];

/** Defaults of the flags, as a user would write them. The grace is the default limit of a call and 15 s more. */
export const workerDefaults = {
  project: '.',
  role: 'all',
  store: [],
  allowEnv: ['REGATTA_SECRET_*'],
  allowHost: [],
  slots: '256',
  grace: '135s',
  metricsPort: '9464',
  metricsHost: '127.0.0.1',
  logLevel: 'info',
} as const satisfies Omit<WorkerFlags, 'queue'>;

const mostSlots = 10_000;

type Complain = (message: string, hint?: string) => void;

/** Reads a worker's flags; paths are relative to `cwd`. Throws one `UsageError` with all mistakes. */
export function readWorkerSettings(flags: WorkerFlags, cwd: string): WorkerSettings {
  const mistakes: Mistake[] = [];
  const complain: Complain = (message, hint) =>
    mistakes.push(hint === undefined ? { message } : { message, hint });
  const project = readProject(resolve(cwd, flags.project), complain);
  const metrics = readMetrics(flags, complain);
  const settings: WorkerSettings = {
    project,
    queue: flags.queue,
    role: oneOf('--role', flags.role, roles, 'all', complain),
    stores: split(flags.store).map((store) => readStore(store, cwd, complain)),
    allowEnv: readNames(flags.allowEnv, complain),
    allowHost: split(flags.allowHost),
    slots: readNumber('--slots', flags.slots, { from: 1, to: mostSlots }, complain),
    ...(flags.paceShare === undefined ? {} : { paceShare: readShare(flags.paceShare, complain) }),
    graceMs: readGrace(flags.grace, complain),
    ...(metrics === undefined ? {} : { metrics }),
    logLevel: oneOf('--log-level', flags.logLevel, logLevels, 'info', complain),
  };
  if (flags.queue.trim() === '') complain('--queue is empty', 'leave it out for the queue of the project');
  if (mistakes.length > 0) throw new UsageError(mistakes);
  return settings;
}

function readProject(project: string, complain: Complain): string {
  const isFolder = statSync(project, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder) complain(`--project: there is no folder ${project}`);
  return project;
}

function readStore(store: string, cwd: string, complain: Complain): string {
  try {
    return resolveStore(cwd, store);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    for (const { message, hint } of error.mistakes) complain(`--store: ${message}`, hint);
    return store;
  }
}

function readNames(given: readonly string[], complain: Complain): readonly string[] {
  const names = split(given);
  for (const name of names.filter((name) => !/^[A-Z_*][A-Z0-9_*]*$/.test(name))) {
    complain(`--allow-env: ${name} is no variable's name`, 'capital letters, digits, _ and * for any part');
  }
  return names;
}

/** A number from above 0 to 1, or a fraction like 1/4. */
function readShare(text: string, complain: Complain): number {
  const [, part = text, whole = '1'] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const share = /^(\d+\.?\d*|\.\d+)$/.test(part) ? Number(part) / Number(whole) : Number.NaN;
  if (share > 0 && share <= 1) return share;
  complain(`--pace-share: ${text} is no share`, 'above 0 to 1, for instance 0.25 or 1/4');
  return 1;
}

function readGrace(text: string, complain: Complain): number {
  const graceMs = durationMs(text);
  if (graceMs === undefined) complain(`--grace: ${text} is no duration`, 'for instance 135s or 5m');
  return graceMs ?? 0;
}

function readMetrics(flags: WorkerFlags, complain: Complain): WorkerSettings['metrics'] {
  if (flags.metricsPort === 'off') return undefined;
  const port = readNumber('--metrics-port', flags.metricsPort, { from: 0, to: 65_535, or: 'off' }, complain);
  return { host: flags.metricsHost, port };
}

type Range = { readonly from: number; readonly to: number; readonly or?: string };

function readNumber(flag: string, text: string, { from, to, or }: Range, complain: Complain): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= from && number <= to) return number;
  complain(
    `${flag}: ${text} does not do`,
    `a whole number from ${from} to ${to}${or === undefined ? '' : `, or ${or}`}`,
  );
  return from;
}

function oneOf<Word extends string>(
  flag: string,
  text: string,
  words: readonly Word[],
  fallback: Word,
  complain: Complain,
): Word {
  const found = words.find((word) => word === text);
  if (found === undefined) complain(`${flag}: unknown word ${text}`, wordHint(text, words));
  return found ?? fallback;
}

function split(texts: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}
