import { ActivityFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { Halt, SweepInput } from './messages.ts';
import { preflightActivities, preflightLimit, probeActivities } from './options.ts';

export type Preflight = { readonly halt?: Halt; readonly probeCalls: number };

/** Before the first paid call: is there a worker that can play this sweep, and do the endpoints take us? */
export async function preflight({ sweep, store, hash, rejudge, checkSet }: SweepInput): Promise<Preflight> {
  const judging = {
    ...(rejudge ? { rejudge } : {}),
    ...(checkSet === undefined ? {} : { checkSet }),
  };
  try {
    await preflightActivities.preflight({ sweep, store, hash, ...judging });
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return { halt: { reason: 'no_worker', detail: lackOf(error) }, probeCalls: 0 };
  }
  const { refused, calls } = await probeActivities.probeEndpoints({ sweep, store, ...judging });
  return {
    probeCalls: calls,
    ...(refused === undefined ? {} : { halt: { reason: 'configuration', detail: refused } }),
  };
}

function lackOf(failure: ActivityFailure): string {
  const { cause } = failure;
  const lack = cause instanceof TimeoutFailure ? cause.cause : cause;
  return `no able worker within ${preflightLimit}${lack === undefined ? '' : `: ${lack.message}`}`;
}
