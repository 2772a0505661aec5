import type { Json } from '../../domain/json.ts';

/** What the pool says to a thread. `url` is the module's file URL. */
export type ToThread =
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly url: string;
      readonly name: string;
      readonly input: Json;
      /** The input is a list of arguments. */
      readonly isSpread: boolean;
      /** 0 until the thread begins the call (1), or the pool takes it back (2). */
      readonly claim: SharedArrayBuffer;
    }
  | { readonly kind: 'ping' };

/** What a thread says to the pool. */
export type FromThread =
  | { readonly kind: 'answer'; readonly id: number; readonly value?: Json }
  | { readonly kind: 'problem'; readonly id: number; readonly problem: Problem }
  | { readonly kind: 'pong' };

/** Why a call has no answer. */
export type Problem =
  /** The file does not compile, or imports what is not there. */
  | { readonly kind: 'load'; readonly code: string; readonly message: string; readonly stack: string }
  | { readonly kind: 'no_export'; readonly exports: readonly string[] }
  /** Where in the answer something is that JSON does not have. */
  | { readonly kind: 'not_json'; readonly message: string }
  | { readonly kind: 'threw'; readonly stack: string };

export const begun = 1;
export const takenBack = 2;

/** What a thread is born with: the id of the call that it runs right now without a pause, 0 for none. */
export type ThreadData = { readonly running: SharedArrayBuffer };
