import process from 'node:process';

export type Environment = { readonly [name: string]: string | undefined };

export type Output = { write(text: string): unknown };

/** Processes and the machine under a command. */
export type System = {
  readonly pid: number;
  readonly platform: string;
  readonly arch: string;
  /** The Node that runs this program, for child processes. */
  readonly nodePath: string;
  /** Node's own flags of this program, for child processes. */
  readonly nodeFlags: readonly string[];
  /** Its version, for instance `24.22.3`. */
  readonly nodeVersion: string;
  /** Sends a signal; false when there is no such process or it is not ours. */
  readonly kill: (pid: number, signal: NodeJS.Signals) => boolean;
};

/** The operating system as an argument: what a command may touch besides files and the network. */
export type Shell = {
  readonly args: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly stdin: AsyncIterable<Uint8Array | string>;
  /** Results. */
  readonly stdout: Output;
  /** Progress and prose. */
  readonly stderr: Output;
  /** Whether progress goes to a person's terminal. */
  readonly isTerminal: boolean;
  /** Whether results and progress may be coloured: a terminal, and no NO_COLOR. */
  readonly hasColour: boolean;
  /** Width of the terminal; 80 without one. */
  readonly columns: number;
  readonly now: () => number;
  /** Calls the handler on each of the signals instead of dying of it; returns how to stop that. */
  readonly onSignal: (
    signals: readonly NodeJS.Signals[],
    handler: (signal: NodeJS.Signals) => void,
  ) => () => void;
  /** Ends the process at once: the second Ctrl-C. */
  readonly leave: (exitCode: number) => void;
  readonly system: System;
  /** What the command came to; a command sets it when it is not 0. */
  exitCode: number;
};

/** The shell of the real process. */
export function processShell(): Shell {
  const isTerminal = process.stderr.isTTY === true;
  return {
    args: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    isTerminal,
    hasColour: isTerminal && process.stdout.isTTY === true && !process.env.NO_COLOR,
    // Read each time: a terminal can be resized.
    get columns() {
      return process.stderr.columns ?? 80;
    },
    now: Date.now,
    onSignal,
    leave: (exitCode) => process.exit(exitCode),
    system: {
      pid: process.pid,
      platform: process.platform,
      arch: process.arch,
      nodePath: process.execPath,
      nodeFlags: process.execArgv,
      nodeVersion: process.versions.node,
      kill,
    },
    exitCode: 0,
  };
}

function onSignal(signals: readonly NodeJS.Signals[], handler: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, handler);
  return () => {
    for (const signal of signals) process.off(signal, handler);
  };
}

function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
