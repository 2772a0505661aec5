import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from '../exit-codes.ts';
import type { System } from '../shell.ts';
import { isAlive, type ProcessId } from './processes.ts';

/** A local run that uses the server; `nonce` tells several of one process apart. */
export type User = ProcessId & { readonly nonce: string };

/** What is known of a folder's server. It outlives the server where its port must stay the same. */
export type ServerState = ProcessId & {
  readonly port: number;
  /** `127.0.0.1:<port>`. */
  readonly address: string;
  /** Version of the Temporal CLI that it came from. */
  readonly version: string;
  readonly database: string;
  /** URL of Temporal's own web page, where it was asked for. */
  readonly ui?: string;
  /** `server start` began it: it outlives its last run. */
  readonly keep: boolean;
  /** `server stop` ended it: nobody brings it back unasked. */
  readonly stopped: boolean;
  readonly users: readonly User[];
};

/** The files of a folder's server. */
export type Place = {
  /** `.regatta` in the folder. */
  readonly home: string;
  readonly database: string;
  readonly log: string;
  readonly state: string;
  /** Holds the server's pid while it lives; written by the server's process itself. */
  readonly serverLock: string;
  /** Held while somebody starts or stops the server. */
  readonly startLock: string;
};

/** Names the files of a folder's server. */
export function placeOf(folder: string): Place {
  const home = join(realpathSync(folder), '.regatta');
  return {
    home,
    database: join(home, 'temporal.db'),
    log: join(home, 'temporal.log'),
    state: join(home, 'server.json'),
    serverLock: join(home, 'server.lock'),
    startLock: join(home, 'server-start.lock'),
  };
}

/**
 * Makes the folder of the files, with a .gitignore of its own.
 * @throws CommandFailure (unreachable) where that is not allowed.
 */
export function makeHome({ home }: Place): void {
  try {
    mkdirSync(home, { recursive: true });
    const ignore = join(home, '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n');
  } catch (error) {
    throw new CommandFailure('unreachable', error instanceof Error ? error.message : String(error));
  }
}

/** The state that was written last; undefined when there is none or it cannot be read. Dead users are left out. */
export function readState(place: Place, system: System): ServerState | undefined {
  try {
    const state: unknown = JSON.parse(readFileSync(place.state, 'utf8'));
    if (!isState(state)) return undefined;
    return { ...state, users: state.users.filter((user) => isAlive(user, system)) };
  } catch {
    return undefined;
  }
}

/** Writes the state as a whole: a reader sees the old one or the new one. */
export function writeState(place: Place, state: ServerState): void {
  writeFileSync(`${place.state}.new`, `${JSON.stringify(state, undefined, 2)}\n`);
  renameSync(`${place.state}.new`, place.state);
}

/** Forgets the server. */
export function removeState(place: Place): void {
  rmSync(place.state, { force: true });
}

function isState(value: unknown): value is ServerState {
  if (!isProcessId(value)) return false;
  const state = value as Partial<ServerState>;
  return (
    Number.isInteger(state.port) &&
    typeof state.version === 'string' &&
    Array.isArray(state.users) &&
    state.users.every(isProcessId)
  );
}

function isProcessId(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, startTime } = value as Partial<ProcessId>;
  return Number.isInteger(pid) && typeof startTime === 'string';
}
