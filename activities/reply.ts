import type { TargetReply } from './ports.ts';
import type { NewEvent } from './stretch.ts';

/** A reply as a message of the transcript. */
export function messageOf(reply: TargetReply, turn: number): NewEvent {
  return {
    kind: 'message',
    by: 'target',
    turn,
    text: reply.text,
    ...(reply.toolCalls.length === 0 ? {} : { tool_calls: reply.toolCalls }),
    ...(reply.metadata === undefined ? {} : { metadata: reply.metadata }),
    ...(reply.end === true ? { ends: { kind: 'target_hung_up' } as const } : {}),
  };
}
