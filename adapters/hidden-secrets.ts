import type {
  AskedToolCall,
  ChatModels,
  Modules,
  SessionStart,
  Target,
  TargetReply,
  Targets,
} from '../activities/ports.ts';
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts';
import type { ToolCall } from '../domain/transcript.ts';

/** Puts `${NAME}` in the place of the values of secrets. */
export type Hide = (text: string) => string;

/**
 * What models, targets and modules answer, with secrets hidden where it comes in: what is journaled, what the other
 * side sees and what a resumed conversation goes on with are the same text. Session ids stay as they are: the target
 * would not know them.
 */
export function hideSecrets({ models, targets, modules }: Answering, hide: Hide): Answering {
  return {
    models: {
      ...models,
      async chat(model, request, options) {
        const reply = await models.chat(model, request, options);
        const toolCalls = reply.toolCalls.map((call) => askedWithout(call, hide));
        return { ...reply, text: hide(reply.text), toolCalls };
      },
    },
    targets: { open: (spec) => targetWithout(targets.open(spec), hide) },
    modules: {
      ...modules,
      async call(...call) {
        const answer = await modules.call(...call);
        return answer === undefined ? undefined : jsonWithout(answer, hide);
      },
    },
  };
}

/** Whoever answers in a conversation. */
type Answering = { readonly models: ChatModels; readonly targets: Targets; readonly modules: Modules };

function targetWithout(target: Target, hide: Hide): Target {
  return {
    // It may change with the first call.
    get sessions() {
      return target.sessions;
    },
    start: async (call, options) => startWithout(await target.start(call, options), hide),
    reply: async (call, options) => replyWithout(await target.reply(call, options), hide),
    end: (call, options) => target.end(call, options),
  };
}

function startWithout(start: SessionStart, hide: Hide): SessionStart {
  const { greeting } = start;
  return greeting === undefined ? start : { ...start, greeting: replyWithout(greeting, hide) };
}

function replyWithout(reply: TargetReply, hide: Hide): TargetReply {
  const { text, toolCalls, metadata } = reply;
  return {
    ...reply,
    text: hide(text),
    toolCalls: toolCalls.map((call) => calledWithout(call, hide)),
    ...(metadata === undefined ? {} : { metadata: objectWithout(metadata, hide) }),
  };
}

function calledWithout(call: ToolCall, hide: Hide): ToolCall {
  const { args, result } = call;
  return {
    ...call,
    ...(args === undefined ? {} : { args: jsonWithout(args, hide) }),
    ...(result === undefined ? {} : { result: jsonWithout(result, hide) }),
  };
}

function askedWithout(call: AskedToolCall, hide: Hide): AskedToolCall {
  const { args, argsText } = call;
  return {
    ...call,
    argsText: hide(argsText),
    ...(args === undefined ? {} : { args: objectWithout(args, hide) }),
  };
}

function jsonWithout(value: Json, hide: Hide): Json {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((item: Json) => jsonWithout(item, hide));
  return isJsonObject(value) ? objectWithout(value, hide) : value;
}

function objectWithout(value: JsonObject, hide: Hide): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonWithout(item, hide)]));
}
