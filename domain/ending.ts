/** Why the driver said that it was done. */
export type DriverReason = 'goal_met' | 'refused' | 'stuck' | 'other';

/** Why a conversation stopped. Not whether it was good (verdict), nor what broke (fault). */
export type Ending =
  | { readonly kind: 'driver_done'; readonly reason: DriverReason }
  | { readonly kind: 'stop_check'; readonly check: string }
  | { readonly kind: 'script_done' }
  | { readonly kind: 'target_hung_up' }
  | { readonly kind: 'target_error'; readonly code: string; readonly detail: string }
  | { readonly kind: 'max_turns' }
  | { readonly kind: 'time_limit' }
  | { readonly kind: 'context_full'; readonly by: 'driver' | 'target' }
  | { readonly kind: 'content_refused'; readonly by: 'driver' | 'target' };

export type EndingKind = Ending['kind'];

export const endingKinds: readonly EndingKind[] = [
  'driver_done',
  'stop_check',
  'script_done',
  'target_hung_up',
  'target_error',
  'max_turns',
  'time_limit',
  'context_full',
  'content_refused',
];

/** What is more to say of an ending: the driver's reason, the check that stopped it, the code of the target's error. */
export function endingReason(ending: Ending): string | undefined {
  switch (ending.kind) {
    case 'driver_done':
      return ending.reason;
    case 'stop_check':
      return ending.check;
    case 'target_error':
      return ending.code;
    case 'context_full':
    case 'content_refused':
      return ending.by;
    case 'script_done':
    case 'target_hung_up':
    case 'max_turns':
    case 'time_limit':
      return undefined;
  }
}
