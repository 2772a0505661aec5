import { Fault } from '../domain/fault.ts';
import { uniform } from '../domain/random.ts';
import { nextTry } from '../domain/retry-policy.ts';
import { noRoleUsage, type Role, type TokenUsage } from '../domain/usage.ts';
import type { CallOptions } from './ports.ts';
import type { StretchEnd } from './run-work.ts';
import type { NewEvent, Stretch } from './stretch.ts';

/** What a successful call took. */
export type Spent = { readonly ms: number; readonly usage?: TokenUsage; readonly costUsd?: number };

export type Call<T extends Spent> = {
  readonly role: Role;
  readonly called: 'model' | 'target';
  /** The model's key in `models`, or the kind of the target. */
  readonly model: string;
  readonly turn: number;
  readonly idempotencyKey?: string;
  make(options: CallOptions): Promise<T>;
  /** A call whose fate is unknown must not simply be made again. */
  readonly once?: boolean;
  /** An earlier worker may have made this call. */
  readonly resent?: boolean;
};

export type Attempt<T> =
  /** `event` is the call, to be recorded together with what it brought. */
  | { readonly kind: 'ok'; readonly value: T; readonly event: NewEvent }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'leave'; readonly end: StretchEnd };

/**
 * Makes a call, again where the fault table says so: waits while its stretch has room, else leaves the wait to the
 * workflow. Each faulty try is recorded, so that the count outlives the worker.
 */
export async function attemptCall<T extends Spent>(stretch: Stretch, call: Call<T>): Promise<Attempt<T>> {
  const { deps, signals } = stretch;
  let resent = call.resent ?? false;
  for (;;) {
    await deps.contact.hold(signals.abort);
    const began = deps.clock.now();
    try {
      const value = await call.make(stretch.callOptions(call.idempotencyKey));
      return { kind: 'ok', value, event: callEvent(stretch, call, value, resent) };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      resent ||= error.unsure;
      const left = await afterFault(stretch, call, error, deps.clock.now() - began);
      if (left !== undefined) return left;
    }
  }
}

/** Records a faulty try and waits for the next one; undefined when it is time for it. */
async function afterFault<T extends Spent>(
  stretch: Stretch,
  call: Call<T>,
  fault: Fault,
  ms: number,
): Promise<Attempt<T> | undefined> {
  const next = policyFor(stretch, call, fault, ms);
  stretch.deps.meter.call({ role: call.role, model: call.model, code: fault.code, ms, costUsd: 0 });
  await stretch.record({
    kind: 'call',
    ...callFacts(call),
    ms,
    input_tokens: 0,
    output_tokens: 0,
    estimated: false,
    cost_usd: 0,
    code: fault.code,
    ...(fault.unsure ? { unsure: true } : {}),
    ...(next.kind === 'again' ? { wait_ms: next.waitMs } : {}),
  });
  if (next.kind === 'final' || (fault.unsure && call.once === true)) return { kind: 'fault', fault };
  return pauseFor(stretch, next.waitMs);
}

function policyFor<T extends Spent>(stretch: Stretch, call: Call<T>, fault: Fault, ms: number) {
  const { failing, waitedMs, transcript } = stretch.now();
  const { target, sweep, run } = stretch.plan;
  const jitter = uniform(run.seed, `wait:${call.role}:${transcript.length}`, failing.tries);
  return nextTry(
    {
      code: fault.code,
      called: call.called,
      tries: failing.tries + (fault.code === 'rate_limited' ? 0 : 1),
      failingMs: failing.ms + ms,
      waitedMs: waitedMs + ms,
      retryAfterMs: fault.retryAfterMs,
    },
    { targetTries: target.retries, giveUpMs: sweep.spec.timeouts.giveUpMs },
    jitter,
  );
}

/** Waits inside the stretch; leaves it where the wait is too long for it, or where it is asked to stop. */
async function pauseFor<T>(stretch: Stretch, waitMs: number): Promise<Attempt<T> | undefined> {
  const { deps, input, signals, deadline } = stretch;
  const fits = waitMs <= input.longestWaitMs && deps.clock.now() + waitMs < deadline;
  if (!fits) return { kind: 'leave', end: { kind: 'wait', waitMs } };
  try {
    await deps.clock.sleep(waitMs, signals.stop);
    return undefined;
  } catch (reason) {
    if (signals.abort.aborted) throw reason;
    return { kind: 'leave', end: { kind: 'stopped' } };
  }
}

function callEvent<T extends Spent>(stretch: Stretch, call: Call<T>, value: T, resent: boolean): NewEvent {
  const usage = value.usage ?? noRoleUsage;
  const costUsd = value.costUsd ?? 0;
  stretch.deps.meter.call({
    role: call.role,
    model: call.model,
    code: 'ok',
    ms: value.ms,
    costUsd,
    ...(value.usage === undefined ? {} : { usage: value.usage }),
  });
  return {
    kind: 'call',
    ...callFacts(call),
    ms: value.ms,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    estimated: usage.estimated,
    cost_usd: costUsd,
    code: 'ok',
    ...(resent && call.called === 'target' ? { resent: true } : {}),
  };
}

function callFacts<T extends Spent>(call: Call<T>) {
  return { role: call.role, turn: call.turn, model: call.model };
}
