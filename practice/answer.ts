import type { Json, JsonObject } from '../domain/json.ts';
import { stableHash } from '../domain/random.ts';
import type { PracticeRequest } from './request.ts';

/** What the practice model says: a text, or a call of a tool. */
export type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly name: string; readonly args: JsonObject };

const charactersPerToken = 4;

/** The body of an answer, and of what kind it is. */
export type Payload = { readonly contentType: string; readonly text: string };

/** The body that carries an answer: JSON, or the events of a stream where the request asks for one. */
export function payloadOf(answer: Answer, request: PracticeRequest, content: string): Payload {
  if (!request.stream) {
    return { contentType: 'application/json', text: JSON.stringify(completionOf(answer, request, content)) };
  }
  const events = [...chunksOf(answer, request, content).map((chunk) => JSON.stringify(chunk)), '[DONE]'];
  return { contentType: 'text/event-stream', text: events.map((data) => `data: ${data}\n\n`).join('') };
}

/** An answer as a chat completion. Ids and texts are functions of `content`, the request's hash. */
function completionOf(answer: Answer, request: PracticeRequest, content: string): JsonObject {
  const { message, finish } = messageOf(answer, request, content);
  return {
    ...envelopeOf(request, content, 'chat.completion'),
    choices: [
      { index: 0, message: { role: 'assistant', ...message }, finish_reason: finish, logprobs: null },
    ],
    usage: usageOf(answer, request),
  };
}

/** An answer as the chunks of a stream, the closing `[DONE]` apart. */
function chunksOf(answer: Answer, request: PracticeRequest, content: string): readonly JsonObject[] {
  const envelope = envelopeOf(request, content, 'chat.completion.chunk');
  const { message, finish } = messageOf(answer, request, content);
  const chunk = (delta: JsonObject, finishReason: string | null): JsonObject => ({
    ...envelope,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...deltasOf(message).map((delta) => chunk(delta, null)),
    chunk({}, finish),
    ...(request.streamUsage ? [{ ...envelope, choices: [], usage: usageOf(answer, request) }] : []),
  ];
}

/** What a request and its answer come to in tokens. */
export function tokensOf(answer: Answer, request: PracticeRequest): number {
  const { prompt, completion } = countTokens(answer, request);
  return prompt + completion;
}

/** Characters divided by four, of what was sent and what came back; at least one each. */
function countTokens(answer: Answer, request: PracticeRequest) {
  const sent = request.messages.reduce((sum, message) => sum + message.text.length, 0);
  const said = answer.kind === 'text' ? answer.text : answer.name + JSON.stringify(answer.args);
  return {
    prompt: Math.max(1, Math.ceil(sent / charactersPerToken)),
    completion: Math.max(1, Math.ceil(said.length / charactersPerToken)),
  };
}

function usageOf(answer: Answer, request: PracticeRequest): JsonObject {
  const { prompt, completion } = countTokens(answer, request);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: tokensOf(answer, request),
  };
}

/** Shortens a text to what the request allows. */
export function limitAnswer(answer: Answer, request: PracticeRequest): Answer {
  if (answer.kind !== 'text' || request.maxTokens === undefined) return answer;
  return { kind: 'text', text: answer.text.slice(0, request.maxTokens * charactersPerToken) };
}

function envelopeOf(request: PracticeRequest, content: string, object: string): JsonObject {
  const created = Math.floor(Date.now() / 1000);
  return { id: `chatcmpl-${content}`, object, created, model: request.model, system_fingerprint: 'practice' };
}

function messageOf(
  answer: Answer,
  request: PracticeRequest,
  content: string,
): { readonly message: JsonObject; readonly finish: string } {
  switch (answer.kind) {
    case 'text': {
      const isCut =
        request.maxTokens !== undefined && answer.text.length >= request.maxTokens * charactersPerToken;
      return { message: { content: answer.text }, finish: isCut ? 'length' : 'stop' };
    }
    case 'tool_call': {
      const id = `call_${stableHash(content, answer.name).toString(16)}`;
      const call = {
        id,
        type: 'function',
        function: { name: answer.name, arguments: JSON.stringify(answer.args) },
      };
      return { message: { content: null, tool_calls: [call] }, finish: 'tool_calls' };
    }
  }
}

function deltasOf(message: JsonObject): readonly JsonObject[] {
  if (typeof message.content === 'string') return piecesOf(message.content).map((content) => ({ content }));
  const calls = message.tool_calls as readonly {
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  return calls.flatMap((call, index): JsonObject[] => {
    const opening: Json = { ...call, index, function: { name: call.function.name, arguments: '' } };
    const pieces = piecesOf(call.function.arguments).map((text) => ({
      index,
      function: { arguments: text },
    }));
    return [opening, ...pieces].map((delta) => ({ tool_calls: [delta] }));
  });
}

/** A text in pieces of about four words, the spaces kept. */
function piecesOf(text: string): readonly string[] {
  return text.match(/(?:\S+\s*|\s+){1,4}/g) ?? [];
}
