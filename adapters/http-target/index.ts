import type { Target } from '../../activities/ports.ts';
import { Fault } from '../../domain/fault.ts';
import type { HttpTarget, StreamRules } from '../../domain/sweep-spec.ts';
import { createCaller, type HttpTargetParts } from './caller.ts';
import { readAnswer, readReply } from './reply.ts';

/**
 * A target behind HTTP. It opens sessions where there is a request for it; where only replies give a session id, the
 * first of them does. Each message carries its
 * `Idempotency-Key`; an access token that is refused with 401 is fetched anew, once a call.
 */
export function createHttpTarget(spec: HttpTarget, parts: HttpTargetParts): Target {
  const { start, send, end } = spec;
  const givesSessions = start?.sessionId !== undefined || send.sessionId !== undefined;
  const ask = createCaller(spec.auth, parts);
  return {
    sessions: start !== undefined,
    start: async (call, options) => {
      if (start === undefined) return { ms: 0 };
      const { answer, name } = await ask(start, call, options, streamingOf(start.streaming, start.greeting));
      const reader = readAnswer(answer, name);
      const sessionId = reader.sessionId(start.sessionId);
      if (start.sessionId !== undefined && sessionId === undefined) {
        throw reader.bad(`answered without a session id at ${start.sessionId}`);
      }
      const text = start.greeting === undefined ? '' : reader.text(start.greeting);
      const greeting = { text, toolCalls: [], ms: answer.ms };
      return {
        ms: answer.ms,
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(text === '' ? {} : { greeting }),
      };
    },
    reply: async (call, options) => {
      const headers = { 'idempotency-key': call.idempotencyKey };
      const namesSession = call.sessionId !== undefined;
      const extra = { headers, namesSession, ...streamingOf(send.streaming, send.reply) };
      const { answer, name } = await ask(send, call, options, extra);
      return readReply(send, answer, name);
    },
    end: async (call, options) => {
      if (end === undefined || (givesSessions && call.sessionId === undefined)) return;
      try {
        await ask(end, call, options, { headers: {}, namesSession: true });
      } catch (error) {
        // Gone already is as good as closed.
        if (!(error instanceof Fault && error.code === 'lost_session')) throw error;
      }
    },
  };
}

function streamingOf(rules: StreamRules | undefined, textPath = '') {
  return rules === undefined ? {} : { streaming: { rules, textPath } };
}
