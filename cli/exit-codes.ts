import { Fault } from '../domain/fault.ts';
import { UsageError } from '../domain/usage-error.ts';

/** What each exit code of every command means. */
export const exitCodes = {
  done: 0,
  bug: 1,
  usage: 2,
  gateShut: 3,
  gateUndecided: 4,
  unreachable: 5,
  halted: 6,
  interrupted: 130,
} as const;

export type FailureKind = 'usage' | 'unreachable' | 'halted' | 'interrupted' | 'bug';

export type Failure = {
  readonly kind: FailureKind;
  readonly message: string;
  /** What to do about it, one line or several; empty where nobody knows. */
  readonly hint: string;
  readonly exitCode: number;
};

/** A command could not do its work, and neither the user's words nor a bug is the reason. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly kind: 'unreachable' | 'halted' | 'interrupted';
  readonly hint: string;

  constructor(kind: 'unreachable' | 'halted' | 'interrupted', message: string, hint = '') {
    super(message);
    this.kind = kind;
    this.hint = hint;
  }
}

/** Sorts anything thrown by a command into the closed kinds of failure; what nobody expected is a bug. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) {
    const hint = error.mistakes.flatMap((mistake) => mistake.hint ?? []).join('\n');
    return { kind: 'usage', message: error.message, hint, exitCode: exitCodes.usage };
  }
  if (error instanceof CommandFailure) {
    return { kind: error.kind, message: error.message, hint: error.hint, exitCode: exitCodes[error.kind] };
  }
  if (error instanceof Fault && error.code === 'store_unavailable') {
    return unreachable(error.message, 'See to the disk, the bucket or the permissions, then try again.');
  }
  if (isTemporalAway(error)) {
    return unreachable(`Temporal is out of reach: ${messageOf(error)}`, 'regatta server status');
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { kind: 'bug', message: stack, hint: '', exitCode: exitCodes.bug };
}

function unreachable(message: string, hint: string): Failure {
  return { kind: 'unreachable', message, hint, exitCode: exitCodes.unreachable };
}

// gRPC's DEADLINE_EXCEEDED and UNAVAILABLE. Told by shape: importing the client here would slow every command down.
const awayStatuses: readonly unknown[] = [4, 14];

function isTemporalAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && awayStatuses.includes(error.code) && 'details' in error) return true;
  if (error.name === 'TransportError' || error.message.startsWith('Failed to connect before the deadline')) {
    return true;
  }
  return isTemporalAway(error.cause);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
