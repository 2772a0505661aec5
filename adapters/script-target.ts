import type { Target, TargetCall, TargetReply } from '../activities/ports.ts';
import { Fault } from '../domain/fault.ts';
import type { ScriptTarget } from '../domain/sweep-spec.ts';
import { renderText } from '../domain/template.ts';
import { repliesOf } from '../domain/transcript.ts';
import { rendering, targetVariables } from './target-variables.ts';

/** A target of fixed replies, one after the other; the last one is repeated. Replies are templates. Without any, every call is a fault. */
export function createScriptTarget(spec: ScriptTarget): Target {
  return {
    sessions: false,
    start: async () => ({ ms: 0 }),
    reply: async (call) => replyTo(spec, call),
    end: async () => {},
  };
}

function replyTo(spec: ScriptTarget, call: TargetCall): TargetReply {
  if (spec.replies.length === 0) {
    const message = 'there is no target: the conversations of this sweep were held elsewhere';
    throw new Fault('invalid_request', message, { blame: 'configuration' });
  }
  const said = repliesOf(call.transcript).length;
  const template = spec.replies[Math.min(said, spec.replies.length - 1)] ?? '';
  return { text: rendering(call, () => renderText(template, targetVariables(call))), toolCalls: [], ms: 0 };
}
