import { condition, continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow';
import { areIdle, grantLease, noLeases, quietLeases } from '../domain/pace-lease.ts';
import { leaseUpdate, type PaceInput } from './messages.ts';

/** A run of a workflow takes 2,000 updates, and its history is replayed by the next worker that looks after it. */
const mostAsks = 1_000;
const mostEvents = 4_000;
const idleFor = '1 minute';

/**
 * Shares out the pace of one endpoint among all workers of a namespace, as long as anybody asks. It has no children,
 * so unlike a sweep it may continue as new.
 */
export async function paceWorkflow(input: PaceInput): Promise<void> {
  // Within a workflow this is the time of the task that is being worked on, also when it is replayed.
  const now = () => Date.now();
  let leases = input.leases ?? (input.mayFollow ? quietLeases(now()) : noLeases);
  let asks = 0;
  setHandler(leaseUpdate, (ask) => {
    asks += 1;
    const granted = grantLease(leases, ask, now());
    leases = granted.leases;
    return granted.lease;
  });
  const isFull = () => asks >= mostAsks || workflowInfo().historyLength >= mostEvents;
  for (;;) {
    const before = asks;
    if (await condition(isFull, idleFor)) break;
    if (asks === before && areIdle(leases, now())) return;
  }
  await continueAsNew<typeof paceWorkflow>({ leases });
}
