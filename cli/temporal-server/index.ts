import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { CommandFailure } from '../exit-codes.ts';
import type { Shell } from '../shell.ts';
import { isServing } from './health.ts';
import { withLock } from './lock.ts';
import { endProcess, isAlive, startTimeOf } from './processes.ts';
import { resolveTemporal } from './resolve.ts';
import {
  endUnknownServer,
  freePort,
  isFreeWithin,
  logLength,
  logTail,
  type Ports,
  spawnServer,
} from './spawn.ts';
import {
  makeHome,
  type Place,
  placeOf,
  readState,
  removeState,
  type ServerState,
  type User,
  writeState,
} from './state.ts';

/** Which folder's server: it and its files lie in `<folder>/.regatta`. The folder defaults to the shell's. */
export type ServerOptions = {
  readonly shell: Shell;
  readonly folder?: string;
  /** Also serve Temporal's own web page; only a server that is started now can obey. */
  readonly ui?: boolean;
};

export type ServerInfo = {
  readonly address: string;
  readonly pid: number;
  readonly database: string;
  readonly version: string;
  readonly ui?: string;
};

export type HeldServer = ServerInfo & {
  readonly namespace: string;
  /** Ends this use; the last one tells the server to end, unless it is kept, and does not wait. Safe to call twice. */
  readonly release: () => Promise<void>;
};

/**
 * Registers a local run as a user of the folder's Temporal server and starts the server where none runs.
 * A process that dies without `release` no longer counts.
 * @throws CommandFailure (unreachable) when no server can be started.
 */
export async function acquireServer(options: ServerOptions): Promise<HeldServer> {
  const { place, shell } = open(options);
  const user = thisProcess(shell);
  const state = await changeState(place, shell, async (before) => {
    const running = await ensureRunning(place, options, before);
    return { ...running, users: [...running.users, user] };
  });
  return { ...infoOf(state), namespace: 'default', release: () => release(place, shell, user) };
}

/**
 * Starts the folder's server and marks it as kept: it runs until `stopServer`.
 * @throws CommandFailure (unreachable) when no server can be started.
 */
export async function startKeptServer(options: ServerOptions): Promise<ServerInfo> {
  const { place, shell } = open(options);
  return infoOf(
    await changeState(place, shell, async (before) => ({
      ...(await ensureRunning(place, options, before)),
      keep: true,
    })),
  );
}

/** Brings a server that died back on its database and, where still free, on its port. Changes nothing while it runs or was stopped. */
export function ensureServer(options: ServerOptions): Promise<void> {
  return revive(options, () => true);
}

/**
 * Looks after the folder's server every second, for a user of it, and brings it back when it died.
 * Returns how to end that; to be called before the user's `release`.
 */
export function watchServer(options: ServerOptions): () => void {
  const { place, shell } = open(options);
  let isBusy = false;
  let isEnded = false;
  const timer = setInterval(async () => {
    if (isBusy || !isDead(readState(place, shell.system), shell)) return;
    isBusy = true;
    shell.stderr.write('The Temporal server has died; it is started again\n');
    await revive(options, () => !isEnded).catch((error: unknown) => shell.stderr.write(`${String(error)}\n`));
    isBusy = false;
  }, 1_000);
  timer.unref();
  return () => {
    isEnded = true;
    clearInterval(timer);
  };
}

async function revive(options: ServerOptions, isWanted: () => boolean): Promise<void> {
  const { place, shell } = open(options);
  makeHome(place);
  await withLock(place.startLock, async () => {
    const state = readState(place, shell.system);
    if (isWanted() && isDead(state, shell)) writeState(place, await ensureRunning(place, options, state));
  });
}

// A state that is lost is a death too: a stop that leaves users behind is written down.
function isDead(state: ServerState | undefined, { system }: Shell): boolean {
  return state === undefined || !(state.stopped || isAlive(state, system));
}

/** The folder's server, undefined when none runs or it does not answer within 5 s. */
export async function serverStatus(options: ServerOptions): Promise<ServerInfo | undefined> {
  const { place, shell } = open(options);
  const state = readState(place, shell.system);
  if (state === undefined || !isAlive(state, shell.system)) return undefined;
  return (await isServing(state.port, 5_000)) ? infoOf(state) : undefined;
}

/** Stops the folder's server whoever began it; says whether one ran and how many local runs now wait for it. */
export async function stopServer(options: ServerOptions): Promise<{ ran: boolean; users: number }> {
  const { place, shell } = open(options);
  if (!existsSync(place.home)) return { ran: false, users: 0 };
  return withLock(place.startLock, async () => {
    const state = readState(place, shell.system);
    const ran = state !== undefined && isAlive(state, shell.system);
    await endServer(place, shell, state);
    removeState(place);
    const users = state?.users.length ?? 0;
    // What is left for waiting runs: the port at which `server start` or the next run brings the server back.
    if (state !== undefined && users > 0) writeState(place, { ...state, keep: false, stopped: true });
    return { ran, users };
  });
}

function open({ shell, folder }: ServerOptions): { readonly place: Place; readonly shell: Shell } {
  return { place: placeOf(folder ?? shell.cwd), shell };
}

function changeState(
  place: Place,
  shell: Shell,
  change: (before: ServerState | undefined) => Promise<ServerState>,
): Promise<ServerState> {
  makeHome(place);
  return withLock(place.startLock, async () => {
    const state = await change(readState(place, shell.system));
    writeState(place, state);
    return state;
  });
}

async function release(place: Place, shell: Shell, user: User): Promise<void> {
  await withLock(place.startLock, async () => {
    const state = readState(place, shell.system);
    if (state === undefined) return;
    const users = state.users.filter(({ nonce }) => nonce !== user.nonce);
    if (users.length > 0 || state.keep) writeState(place, { ...state, users });
    else {
      // Forgotten first: nobody may take a server that is dying for one that runs. Its own lock, which holds its pid,
      // stays; whoever needs a server next waits there until it is gone.
      removeState(place);
      if (isAlive(state, shell.system)) shell.system.kill(state.pid, 'SIGTERM');
    }
  });
}

async function endServer(place: Place, shell: Shell, state: ServerState | undefined): Promise<void> {
  if (state !== undefined) await endProcess(state, shell.system);
  await endUnknownServer(place, shell);
}

async function ensureRunning(
  place: Place,
  options: ServerOptions,
  before: ServerState | undefined,
): Promise<ServerState> {
  const { shell } = options;
  if (before !== undefined && isAlive(before, shell.system) && (await isServing(before.port, 15_000)))
    return before;
  await endServer(place, shell, before);
  const state = await startServer(place, options, before);
  shell.stderr.write(`Temporal server at ${state.address}, database ${state.database}\n`);
  if (state.ui !== undefined) shell.stderr.write(`Temporal's own page at ${state.ui}\n`);
  return state;
}

async function startServer(
  place: Place,
  options: ServerOptions,
  before: ServerState | undefined,
): Promise<ServerState> {
  const { shell } = options;
  const binary = await resolveTemporal(shell);
  shell.stderr.write(`Temporal ${binary.version} from ${binary.source} (${binary.path})\n`);
  const logFrom = logLength(place);
  const withUi = options.ui === true || before?.ui !== undefined;
  // One start at a time on this machine: two folders must not take one free port, nor one's server for the other's.
  const started = await withLock(join(tmpdir(), `regatta-${userInfo().uid}-ports.lock`), async () => {
    for (const wantedPort of [before?.port, undefined, undefined]) {
      const ports = await choosePorts(place, withUi, wantedPort);
      const server = await spawnServer(binary, place, ports, shell);
      if (server !== undefined) return describeServer({ ...server, place, ports, binary, before });
      await endUnknownServer(place, shell);
    }
    return undefined;
  });
  if (started !== undefined) return started;
  throw new CommandFailure(
    'unreachable',
    `the Temporal server ended at once\n${logTail(place, logFrom)}`,
    place.log,
  );
}

function describeServer(facts: {
  readonly pid: number;
  readonly startTime: string;
  readonly place: Place;
  readonly ports: Ports;
  readonly binary: { readonly version: string };
  readonly before: ServerState | undefined;
}): ServerState {
  const { pid, startTime, ports, before } = facts;
  return {
    pid,
    startTime,
    port: ports.port,
    address: `127.0.0.1:${ports.port}`,
    version: facts.binary.version,
    database: facts.place.database,
    ...(ports.uiPort === undefined ? {} : { ui: `http://127.0.0.1:${ports.uiPort}` }),
    keep: before?.keep ?? false,
    stopped: false,
    users: before?.users ?? [],
  };
}

async function choosePorts(place: Place, withUi: boolean, old: number | undefined): Promise<Ports> {
  const port =
    old !== undefined && (await isFreeWithin(old, 2_000)) ? old : await freePort(homePort(place.database));
  return { port, uiPort: withUi ? await freePort(port + 1) : undefined };
}

// The same port for the same folder, so that workers find a server again whose state file was lost. Below the range
// from which systems give ports to clients: a client that calls a dead port there may by chance reach itself.
function homePort(database: string): number {
  return 20_000 + (createHash('sha256').update(database).digest().readUInt32BE(0) % 10_000);
}

function thisProcess({ system }: Shell): User {
  return { pid: system.pid, startTime: startTimeOf(system.pid, system) ?? '', nonce: randomUUID() };
}

function infoOf({ address, pid, database, version, ui }: ServerState): ServerInfo {
  return { address, pid, database, version, ...(ui === undefined ? {} : { ui }) };
}
