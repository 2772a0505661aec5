import type { Ending } from '../domain/ending.ts';
import type { Fault } from '../domain/fault.ts';
import type { Role } from '../domain/usage.ts';
import type { NewEvent, Stretch } from './stretch.ts';

/**
 * What a fault that is not tried again makes of the run: an ending (a full context, a refusal, a target that is
 * itself at fault), or a broken run.
 */
export async function settleFault(stretch: Stretch, role: Role, fault: Fault): Promise<undefined> {
  const ending = endingOf(fault, role, stretch.plan.target.targetFaults);
  const event: NewEvent =
    ending === undefined
      ? {
          kind: 'fault',
          role,
          code: fault.code,
          blame: fault.blame,
          message: fault.message,
          final: true,
          ...(fault.endpoint === undefined ? {} : { endpoint: fault.endpoint }),
        }
      : { kind: 'ended', ending };
  await stretch.record(event);
}

function endingOf(fault: Fault, role: Role, targetFaults: 'failed' | 'broken'): Ending | undefined {
  if (role !== 'judge' && (fault.code === 'context_full' || fault.code === 'content_refused')) {
    return { kind: fault.code, by: role };
  }
  if (role === 'target' && fault.blame === 'target' && targetFaults === 'failed') {
    return { kind: 'target_error', code: fault.code, detail: fault.message };
  }
  return undefined;
}
