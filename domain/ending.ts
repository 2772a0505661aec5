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
