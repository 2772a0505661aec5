import type { ChatRequest } from '../../activities/ports.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { ModelSpec } from '../../domain/sweep-spec.ts';
import { toWireMessages } from './messages.ts';
import type { Traits } from './traits.ts';

/** The body of a chat completion; its optional parameters, and those left out as the endpoint refuses them. */
export type WireRequest = {
  readonly body: JsonObject;
  readonly optional: readonly string[];
  readonly dropped: readonly string[];
};

/**
 * What is sent. Parameters that the sweep file writes (`params:`) go before those of the request, with one exception:
 * a limit of tokens that the request sets holds.
 */
export function toWireRequest(model: ModelSpec, request: ChatRequest, traits: Traits): WireRequest {
  const wanted = optionalParams(model, request);
  const dropped = Object.keys(wanted).filter((name) => traits.refused.has(name));
  const optional = Object.keys(wanted).filter((name) => !traits.refused.has(name));
  const body = {
    ...written(model, request),
    ...temperature(model, request),
    ...Object.fromEntries(optional.map((name) => [name, wanted[name] ?? null])),
    ...(request.maxTokens === undefined ? {} : { [traits.tokensParameter]: request.maxTokens }),
    model: model.model,
    messages: toWireMessages(request.messages),
    ...tools(request),
    ...answerFormat(request),
  };
  return { body, optional, dropped };
}

/** A temperature that has to be sent. */
function temperature(model: ModelSpec, request: ChatRequest): JsonObject {
  const isGiven = request.temperature !== undefined && request.temperatureOptional !== true;
  return isGiven && !('temperature' in model.params) ? { temperature: request.temperature } : {};
}

/** What may be left out where the endpoint refuses it. */
function optionalParams(model: ModelSpec, request: ChatRequest): Record<string, Json> {
  const wanted: Record<string, Json> = {};
  const { temperatureOptional = false } = request;
  if (request.temperature !== undefined && temperatureOptional && !('temperature' in model.params)) {
    wanted.temperature = request.temperature;
  }
  if (request.seed !== undefined && !('seed' in model.params)) wanted.seed = request.seed;
  if (request.toolChoice !== undefined) {
    wanted.tool_choice = { type: 'function', function: { name: request.toolChoice } };
  }
  return wanted;
}

function written(model: ModelSpec, request: ChatRequest): JsonObject {
  if (request.maxTokens === undefined) return model.params;
  const { max_tokens, max_completion_tokens, ...others } = model.params;
  return others;
}

function tools({ tools = [] }: ChatRequest): JsonObject {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({
      type: 'function',
      function: {
        name: tool.name,
        ...(tool.description === undefined ? {} : { description: tool.description }),
        parameters: tool.schema,
      },
    })),
  };
}

function answerFormat({ answerSchema }: ChatRequest): JsonObject {
  if (answerSchema === undefined) return {};
  const { name, schema } = answerSchema;
  return { response_format: { type: 'json_schema', json_schema: { name, schema, strict: true } } };
}
