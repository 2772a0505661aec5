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
  /** Asked before each try: what the stretch is left for where the answer must come from elsewhere. */
  elsewhere?(): StretchEnd | undefined;
};

export type Called<T> =
  /** `event` is the call, to be recorded together with what it brought. */
  | { readonly kind: 'ok'; readonly value: T; readonly event: NewEvent }
  /** `final`: the fault table has no more tries for it. */
  | { readonly kind: 'fault'; readonly fault: Fault; readonly final: boolean }
  | { readonly kind: 'leave'; readonly end: StretchEnd };

/**
 * Makes a call, again where the fault table says so: waits while its stretch has room, else leaves the wait to the
 * workflow. Each faulty try is recorded, so that the count outlives the worker.
 */
export async function makeCall<T extends Spent>(stretch: Stretch, call: Call<T>): Promise<Called<T>> {
  const { deps, signals } = stretch;
  for (;;) {
    await deps.contact.hold(signals.abort);
    if (signals.stop.aborted) return { kind: 'leave', end: { kind: 'stopped' } };
    const end = call.elsewhere?.();
    if (end !== undefined) return { kind: 'leave', end };
    const began = deps.clock.now();
    try {
      const value = await call.make(stretch.callOptions(call.idempotencyKey));
      return { kind: 'ok', value, event: callEvent(stretch, call, value) };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
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
): Promise<Called<T> | undefined> {
  const next = policyFor(stretch, call, fault, ms);
  const waitMs = next.kind === 'again' && !(fault.unsure && call.once === true) ? next.waitMs : undefined;
  stretch.deps.meter.call({ role: call.role, model: call.model, code: fault.code, ms, costUsd: 0 });
  await stretch.record({
    kind: 'call',
    ...callFacts(stretch, call),
    ms,
    input_tokens: 0,
    output_tokens: 0,
    estimated: false,
    cost_usd: 0,
    code: fault.code,
    ...(fault.unsure ? { unsure: true } : {}),
    ...(waitMs === undefined ? {} : { wait_ms: waitMs }),
  });
  if (waitMs === undefined) return { kind: 'fault', fault, final: next.kind === 'final' };
  return pauseFor(stretch, waitMs);
}

function policyFor<T extends Spent>(stretch: Stretch, call: Call<T>, fault: Fault, ms: number) {
  const { failing, waitedMs, transcript } = stretch.now();
  const { target, sweep, run } = stretch.plan;
  const isRefusal = fault.code === 'rate_limited';
  const faults = failing.tries + failing.refusals;
  return nextTry(
    {
      code: fault.code,
      called: call.called,
      tries: failing.tries + (isRefusal ? 0 : 1),
      refusals: failing.refusals + (isRefusal ? 1 : 0),
      failingMs: failing.ms + ms,
      waitedMs: waitedMs + ms,
      retryAfterMs: fault.retryAfterMs,
    },
    { targetTries: target.retries, giveUpMs: sweep.spec.timeouts.giveUpMs },
    uniform(run.seed, `wait:${call.role}:${transcript.length}`, faults),
  );
}

/** Waits inside the stretch; leaves it where the wait is too long for it, or where it is asked to stop. */
async function pauseFor<T>(stretch: Stretch, waitMs: number): Promise<Called<T> | undefined> {
  const { deps, input, signals, deadline } = stretch;
  const fits = waitMs <= input.longestWaitMs && deps.clock.now() + waitMs < deadline;
  if (!fits) return { kind: 'leave', end: { kind: 'wait', waitMs } };
  try {
    await deps.clock.sleep(waitMs, signals.stop);
    return undefined;
  } catch (reason) {
    signals.abort.throwIfAborted();
    if (!signals.stop.aborted) throw reason;
    return { kind: 'leave', end: { kind: 'stopped' } };
  }
}

function callEvent<T extends Spent>(stretch: Stretch, call: Call<T>, value: T): NewEvent {
  const { ms, usage, costUsd = 0 } = value;
  const { role, model } = call;
  stretch.deps.meter.call({
    role,
    model,
    code: 'ok',
    ms,
    costUsd,
    ...(usage === undefined ? {} : { usage }),
  });
  const { inputTokens, outputTokens, estimated } = usage ?? noRoleUsage;
  return {
    kind: 'call',
    ...callFacts(stretch, call),
    ms,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    estimated,
    cost_usd: costUsd,
    code: 'ok',
  };
}

function callFacts<T extends Spent>(stretch: Stretch, { role, turn, model }: Call<T>) {
  return { role, turn, model, ...(stretch.now().unsure ? { resent: true } : {}) };
}
