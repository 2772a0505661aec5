import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailure } from '../exit-codes.ts';
import type { Shell, System } from '../shell.ts';
import { isServing } from './health.ts';
import { commandLineOf, endProcess, type ProcessId, startTimeOf } from './processes.ts';
import type { TemporalBinary } from './resolve.ts';
import type { Place } from './state.ts';

export type Ports = { readonly port: number; readonly uiPort: number | undefined };

/** Limits of a server that is shared by many tenants; one machine's own sweep may use it up. */
const dynamicConfig = [
  'frontend.rps=50000',
  'frontend.namespaceRPS=50000',
  'frontend.namespaceRPS.visibility=1000',
  'frontend.namespaceCount=20000',
  'history.rps=50000',
  'matching.rps=50000',
];

/**
 * Starts a Temporal server in a session of its own, where a terminal's Ctrl-C does not reach it, and waits until it serves.
 * The caller holds the start lock and has removed a stale server lock.
 * @returns undefined when it ended at once: its port was taken meanwhile, or somebody else's server holds the database.
 */
export async function spawnServer(
  binary: TemporalBinary,
  place: Place,
  ports: Ports,
  shell: Shell,
): Promise<ProcessId | undefined> {
  const log = openSync(place.log, 'a');
  const server = spawn(
    '/bin/sh',
    ['-c', lockThenRun, place.serverLock, binary.path, ...serverArguments(place, ports)],
    {
      detached: true,
      env: { ...shell.env },
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  server.unref();
  return (await servesBeforeItEnds(server, ports.port)) ? identify(server, shell) : undefined;
}

// The server's own process writes the lock, so that no kill of ours can leave a server that nobody knows.
// `set -C` makes the writing exclusive; $0 is the lock file.
const lockThenRun = 'set -C; echo $$ > "$0" || exit 75; exec "$@"';

function serverArguments(place: Place, { port, uiPort }: Ports): readonly string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
    ...['--db-filename', place.database],
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...['--log-level', 'error'],
    ...dynamicConfig.flatMap((setting) => ['--dynamic-config-value', setting]),
  ];
}

async function servesBeforeItEnds(server: ChildProcess, port: number): Promise<boolean> {
  const stepMs = 50;
  const limitMs = 60_000;
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += stepMs) {
    if (server.exitCode !== null || server.signalCode !== null) return false;
    if (await isServing(port, 2_000)) return true;
    await sleep(stepMs);
  }
  server.kill('SIGKILL');
  throw new CommandFailure('unreachable', `the Temporal server did not get ready within ${limitMs / 1000} s`);
}

function identify(server: ChildProcess, { system }: Shell): ProcessId | undefined {
  const { pid } = server;
  const startTime = pid === undefined ? undefined : startTimeOf(pid, system);
  return pid === undefined || startTime === undefined ? undefined : { pid, startTime };
}

// Nobody uses a server that no state tells of, and its database outlives a kill: not worth the second that it takes to
// end by itself.
const forgottenGraceMs = 100;

/**
 * Ends the server that holds the server lock, if one does, and takes the lock away; returns when it is gone.
 * The state may not know it: its last run told it to end, or whoever began it was killed before writing it down.
 */
export async function endUnknownServer(place: Place, { system }: Shell): Promise<void> {
  const pid = Number(readIfThere(place.serverLock));
  if (Number.isInteger(pid) && pid > 0 && isServerOf(place, pid, system)) {
    const startTime = startTimeOf(pid, system);
    if (startTime !== undefined) await endProcess({ pid, startTime }, system, forgottenGraceMs);
  }
  rmSync(place.serverLock, { force: true });
}

// The pid of a stale lock may belong to any program by now.
function isServerOf(place: Place, pid: number, system: System): boolean {
  return commandLineOf(pid, system).includes(`--db-filename ${place.database} `);
}

/** The first free port on the loopback from `first` on; looks at 500. */
export async function freePort(first: number): Promise<number> {
  for (let port = first; port < first + 500; port++) if (await isFree(port)) return port;
  throw new CommandFailure('unreachable', `no free port on 127.0.0.1 from ${first} to ${first + 499}`);
}

/** Whether this port of the loopback is free or gets free within `limitMs`: a dying server may hold it a little longer. */
export async function isFreeWithin(port: number, limitMs: number): Promise<boolean> {
  const stepMs = 50;
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += stepMs) {
    if (await isFree(port)) return true;
    await sleep(stepMs);
  }
  return false;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** Length of the server's log, to tell later what a start added to it. */
export function logLength(place: Place): number {
  return statSync(place.log, { throwIfNoEntry: false })?.size ?? 0;
}

/** The last lines that the server wrote to its log after `from`. */
export function logTail(place: Place, from: number): string {
  return readIfThere(place.log).slice(from).trim().split('\n').slice(-5).join('\n');
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
