import type { ServerResponse } from 'node:http';
import type { Role } from '../domain/usage.ts';
import type { FaultKind, Faults } from './faults.ts';
import type { PracticeRequest } from './request.ts';
import type { Tally } from './stats.ts';

export const inabilities = [
  'tools',
  'tool_choice',
  'schema',
  'temperature',
  'max_tokens',
  'max_completion_tokens',
  'seed',
  'disorder',
] as const;

/** What a model may refuse to take: it answers 400 and names the parameter, as hosted models do. */
export type Inability = (typeof inabilities)[number];

export type PracticeOptions = {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Time to an answer; default 200. */
  readonly latencyMs?: number;
  /** Up to this much more, by a hash of the request; default 0. */
  readonly jitterMs?: number;
  /** Default 0. */
  readonly seed?: number;
  readonly faults?: Faults;
  /** `disorder`: messages that break the order which chat templates hold are refused. Default: nothing is refused. */
  readonly refuses?: readonly Inability[];
  /** Calls without this bearer token get 401; default: no key is needed. */
  readonly apiKey?: string;
  /** Any other model gets 404; default: every name is known. */
  readonly models?: readonly string[];
  /** Told of each call as it arrives, with what it is part of. Probes are none. */
  readonly onCall?: (conversation: string | undefined, call: ArrivedCall) => void;
  /** Told of each answer that is no fault: its tokens, the request's among them. */
  readonly onAnswer?: (tokens: number) => void;
};

/** A call that has arrived, and what it will meet. */
export type ArrivedCall = {
  readonly request: PracticeRequest;
  readonly role: Role;
  /** The same for each try of a call, and for equal requests. */
  readonly content: string;
  /** Absent: it is answered. */
  readonly fault?: FaultKind;
  /** Closes when the call is over, or when the client leaves. */
  readonly response: ServerResponse;
};

/** Everything that a request handler knows. */
export type Practice = { readonly options: PracticeOptions; readonly tally: Tally };
