import type { Role } from '../../domain/usage.ts';
import type { FaultKind } from '../../practice/faults.ts';

/** One call as the outside world saw it: of a model, or of one of the desk's doors. Times are epoch milliseconds. */
export type SeenCall = {
  readonly door: 'model' | 'start' | 'chat' | 'end';
  /** Who asked, for calls of a model. */
  readonly role?: Role;
  /** The worker that made it. */
  readonly worker: string;
  readonly conversation: string;
  /** The same for each time that this call is made. */
  readonly key: string;
  readonly session?: string;
  readonly at: number;
  /** When it was over; absent: not yet. */
  readonly until?: number;
  /** What the model did to it instead of an answer. */
  readonly fault?: FaultKind;
};
