import type { ChatReply, ChatRequest } from '../../activities/ports.ts';
import type { FaultCode } from '../../domain/fault.ts';
import { isJsonObject, type Json, jsonIn } from '../../domain/json.ts';
import { readComplaint } from './complaint.ts';
import { isEventStream, readEventStream } from './event-stream.ts';
import type { Answer } from './exchange.ts';
import { type CallPlace, codeOf, faultOfAnswer } from './failure.ts';
import { readReply, readUsage } from './reply.ts';

/** Reads an answer with status 2xx. Throws `Fault` where it holds no reply: bad_reply, too_large, an ending, a limit. */
export function readAnswer(
  answer: Answer,
  request: ChatRequest,
  place: CallPlace,
): Pick<ChatReply, 'text' | 'toolCalls' | 'usage'> {
  const completion = readCompletion(answer, place);
  const reading = readReply(completion);
  switch (reading.kind) {
    case 'reply':
      return {
        text: reading.text,
        toolCalls: reading.toolCalls,
        usage: readUsage(completion, request, reading),
      };
    case 'broken':
      throw faultOfAnswer(answer, place, 'bad_reply', reading.reason, reading.wordless);
    case 'context_full':
    case 'content_refused':
    case 'too_large':
      throw faultOfAnswer(answer, place, reading.kind);
  }
}

function readCompletion(answer: Answer, place: CallPlace): Json {
  const { body, header } = answer;
  if (body === undefined) throw faultOfAnswer(answer, place, 'bad_reply', 'cannot be decoded');
  if (isEventStream(body, header('content-type'))) {
    const reading = readEventStream(body);
    if (reading.kind === 'completion') return reading.completion;
    if (reading.kind === 'garbage') throw faultOfAnswer(answer, place, 'bad_reply', 'not a stream of JSON');
    throw faultOfAnswer(answer, place, codeOfError(JSON.stringify(reading.error)), 'an error in the stream');
  }
  const value = jsonIn(body);
  if (value === undefined) throw faultOfAnswer(answer, place, 'bad_reply', 'not JSON');
  const hasError = isJsonObject(value) && value.choices === undefined && (value.error ?? null) !== null;
  if (hasError) throw faultOfAnswer(answer, place, codeOfError(body), 'an error in it');
  return value;
}

/** An error inside of a 200 is taken at its word where it is a limit or an ending; all else is a bad reply. */
function codeOfError(body: string): FaultCode {
  const status = /"(?:code|status)"\s*:\s*"?(429|503)\b/.exec(body)?.[1];
  const code = codeOf(Number(status ?? 400), readComplaint(body), undefined);
  const isBelieved = status !== undefined || code === 'context_full' || code === 'content_refused';
  return isBelieved ? code : 'bad_reply';
}
