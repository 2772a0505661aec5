import process from 'node:process';
import { type Environment, processShell, type Shell } from '../../cli/shell.ts';

export type TestShell = Shell & {
  /** What was printed so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Sends a signal to whoever listens. */
  readonly signal: (signal: NodeJS.Signals) => void;
};

/** A shell without a process around it: prints into memory and gets its signals from the test. */
export function aShell(given: {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Environment;
  /** Called after each write to stdout. */
  readonly onOut?: () => void;
}): TestShell {
  const printed = { out: '', err: '' };
  const handlers = new Set<(signal: NodeJS.Signals) => void>();
  return {
    ...processShell(),
    args: given.args ?? [],
    cwd: given.cwd ?? process.cwd(),
    env: given.env ?? {},
    stdout: {
      write: (text) => {
        printed.out += text;
        given.onOut?.();
      },
    },
    stderr: {
      write: (text) => {
        printed.err += text;
      },
    },
    isTerminal: false,
    hasColour: false,
    onSignal: (_signals, handler) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    out: () => printed.out,
    err: () => printed.err,
    signal: (signal) => {
      for (const handler of handlers) handler(signal);
    },
  };
}
