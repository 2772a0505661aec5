/** A signal that fires when time is up or when the caller's signal does; it must be closed. */
export type Deadline = {
  readonly ms: number;
  readonly signal: AbortSignal;
  /** Whether time was up (and not the caller who gave up). */
  readonly isOver: () => boolean;
  readonly close: () => void;
};

/** Opens a deadline `ms` from now, under the caller's own signal. */
export function openDeadline(ms: number, caller?: AbortSignal): Deadline {
  const controller = new AbortController();
  let over = false;
  const abort = () => controller.abort(caller?.reason);
  const timer = setTimeout(() => {
    over = true;
    controller.abort(new Error(`no answer within ${ms} ms`));
  }, ms);
  if (caller?.aborted) abort();
  caller?.addEventListener('abort', abort, { once: true });
  return {
    ms,
    signal: controller.signal,
    isOver: () => over,
    close: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', abort);
    },
  };
}
