import { Fault } from '../domain/fault.ts';
import type { ToolCallEvent } from '../domain/journal.ts';
import { isJsonObject, type Json, textOf } from '../domain/json.ts';
import type { ChatTarget, ToolSpec } from '../domain/sweep-spec.ts';
import { renderText, TemplateError, type Variables } from '../domain/template.ts';
import { scenarioVariables } from '../domain/template-variables.ts';
import { historyOf, type Message, type ToolCall } from '../domain/transcript.ts';
import { type Called, makeCall } from './call.ts';
import { settleFault } from './fault-policy.ts';
import type { AskedToolCall, ChatMessage, ChatReply, ChatRequest, ChatTool } from './ports.ts';
import { messageOf } from './reply.ts';
import type { StretchEnd } from './run-work.ts';
import type { NewEvent, Stretch } from './stretch.ts';
import { idempotencyKeyOf } from './target-call.ts';

/** Calls of a tool whose thread is brought down by others. */
const toolTries = 3;

/**
 * The next step of a chat model's reply: runs the tools that it asked for, or asks it. Each step is journaled before
 * the next, the tools' state too, so that a resumed reply goes on where it was.
 */
export async function chatStep(
  stretch: Stretch,
  target: ChatTarget,
  turn: number,
): Promise<StretchEnd | undefined> {
  const { toolCalls } = stretch.now();
  const open = toolCalls.find((call) => call.result === undefined);
  if (open !== undefined) return answerTool(stretch, target, open);
  const steps = stepsOf(toolCalls);
  if (steps >= target.maxToolSteps) return endOfPatience(stretch, target);
  const called = await askModel(stretch, target, turn, steps);
  if (called.kind === 'leave') return called.end;
  if (called.kind === 'fault') return settleFault(stretch, 'target', called.fault);
  const { value: reply, event } = called;
  const events =
    reply.toolCalls.length === 0
      ? [messageOf({ ...reply, toolCalls: toolCalls.map(calledTool) }, turn)]
      : reply.toolCalls.map((call, index) => asked(call, reply, index, steps + 1, turn));
  await stretch.record(event, ...events);
  return undefined;
}

function calledTool({ name, args, result }: ToolCallEvent): ToolCall {
  return { name, args, ...(result === undefined ? {} : { result }) };
}

function stepsOf(calls: readonly ToolCallEvent[]): number {
  return calls.at(-1)?.step ?? 0;
}

function asked(call: AskedToolCall, reply: ChatReply, index: number, step: number, turn: number): NewEvent {
  return {
    kind: 'tool_call',
    turn,
    step,
    id: call.id,
    name: call.name,
    args: call.args ?? call.argsText,
    ...(index === 0 && reply.text !== '' ? { text: reply.text } : {}),
  };
}

async function endOfPatience(stretch: Stretch, target: ChatTarget): Promise<undefined> {
  const detail = `the target called tools ${target.maxToolSteps} times in one turn without an answer (max_tool_steps)`;
  await stretch.record({ kind: 'ended', ending: { kind: 'target_error', code: 'max_tool_steps', detail } });
}

function askModel(
  stretch: Stretch,
  target: ChatTarget,
  turn: number,
  steps: number,
): Promise<Called<ChatReply>> {
  const { models } = stretch.deps;
  const tools: readonly ChatTool[] = target.tools.map(({ name, description, schema }) => ({
    name,
    schema,
    ...(description === undefined ? {} : { description }),
  }));
  return makeCall(stretch, {
    role: 'target',
    called: 'model',
    model: target.model,
    turn,
    // Each step of a reply is a call of its own.
    idempotencyKey: `${idempotencyKeyOf(stretch)}.${steps}`,
    make: async (options) => {
      const request: ChatRequest = {
        messages: chatMessages(stretch, target),
        ...(tools.length === 0 ? {} : { tools }),
        ...(target.temperature === undefined ? {} : { temperature: target.temperature }),
      };
      return models.chat(modelOf(stretch, target.model), request, options);
    },
  });
}

/** The entry of `models` with this name. */
export function modelOf(stretch: Stretch, name: string) {
  const model = stretch.plan.sweep.spec.models[name];
  if (model === undefined) throw new Error(`the spec has no model ${name}`);
  return model;
}

/** Answers one tool call; what the model did wrong is told to it as the tool's result. */
async function answerTool(stretch: Stretch, target: ChatTarget, call: ToolCallEvent): Promise<undefined> {
  const answer = await resultOf(stretch, target, call).catch(asFault);
  if (answer instanceof Fault) return settleFault(stretch, 'target', answer);
  const { result, state } = answer;
  const stateEvents = state === undefined ? [] : [{ kind: 'state', turn: call.turn, state } as const];
  await stretch.record({ ...call, result }, ...stateEvents);
}

function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  throw error;
}

type ToolAnswer = { readonly result: Json; readonly state?: Json };

async function resultOf(stretch: Stretch, target: ChatTarget, call: ToolCallEvent): Promise<ToolAnswer> {
  const tool = target.tools.find(({ name }) => name === call.name);
  if (tool === undefined) return { result: `error: there is no tool ${call.name}` };
  if (!isJsonObject(call.args))
    return { result: `error: the arguments of ${call.name} are not a JSON object` };
  return runTool(stretch, tool, call.args);
}

async function runTool(stretch: Stretch, tool: ToolSpec, args: Json): Promise<ToolAnswer> {
  const answer = await callTool(stretch, tool, args);
  if (!isJsonObject(answer) || answer.result === undefined) {
    const { file } = tool.module;
    throw new Fault('module_error', `the tool ${tool.name} (${file}) must return { result, state? }`, {
      blame: 'configuration',
      endpoint: file,
    });
  }
  return { result: answer.result, ...(answer.state === undefined ? {} : { state: answer.state }) };
}

/** A tool that lost its thread by the doing of another call is called again. */
async function callTool(
  { deps, plan, signals, now }: Stretch,
  tool: ToolSpec,
  args: Json,
): Promise<Json | undefined> {
  const { id, input, expected, tags, meta } = plan.scenario;
  const scenario = { id, input, tags, meta, ...(expected === undefined ? {} : { expected }) };
  const asked = { args, scenario, runId: plan.run.id, state: now().state ?? null };
  const { callMs } = plan.sweep.spec.timeouts;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const options = { timeoutMs: callMs, signal: signals.abort, blame: 'configuration' } as const;
      return await deps.modules.call(tool.module, 'default', asked, options);
    } catch (error) {
      if (asFault(error).code !== 'unavailable' || attempt === toolTries) throw error;
    }
  }
}

function chatMessages(stretch: Stretch, target: ChatTarget): readonly ChatMessage[] {
  const { scenario, run } = stretch.plan;
  const { transcript, toolCalls } = stretch.now();
  const latest = transcript.findLast((message) => message.by === 'driver')?.text;
  const variables = {
    ...scenarioVariables(scenario, run),
    message_history: historyOf(transcript),
    latest_message: latest,
  };
  const { system } = target;
  return [
    ...(system === undefined ? [] : [{ role: 'system', content: render(system, variables) } as const]),
    ...target.dialog.map(({ role, content }) => ({ role, content: render(content, variables) })),
    ...transcript.flatMap((message) => asSeenByTarget(message, target, variables)),
    ...toolDialog(toolCalls),
  ];
}

function asSeenByTarget(message: Message, target: ChatTarget, variables: Variables): readonly ChatMessage[] {
  if (message.by === 'driver') {
    const content =
      target.user === undefined
        ? message.text
        : render(target.user, { ...variables, latest_message: message.text });
    return [{ role: 'user', content }];
  }
  const calls = message.toolCalls.map((call, index) => ({
    ...call,
    id: `turn-${message.turn}-${index}`,
    args: call.args ?? {},
    step: 1,
  }));
  return [...toolDialog(calls), { role: 'assistant', content: message.text }];
}

/** A path that the conversation lacks is a mistake in the file that shows only now. */
function render(template: string, variables: Variables): string {
  try {
    return renderText(template, variables);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new Fault('invalid_request', error.message, { blame: 'configuration', cause: error });
  }
}

type AnsweredCall = {
  readonly id: string;
  readonly step: number;
  readonly name: string;
  readonly args: Json;
  readonly result?: Json;
  readonly text?: string;
};

/** Tool calls as a model expects to see its own: step by step, each followed by the results. */
function toolDialog(calls: readonly AnsweredCall[]): readonly ChatMessage[] {
  const steps = Map.groupBy(calls, (call) => call.step);
  return [...steps.values()].flatMap((ofStep): readonly ChatMessage[] => [
    {
      role: 'assistant',
      content: ofStep[0]?.text ?? '',
      toolCalls: ofStep.map(({ id, name, args }) => ({
        id,
        name,
        argsText: textOf(args),
        ...(isJsonObject(args) ? { args } : {}),
      })),
    },
    ...ofStep.map(
      ({ id, result }) => ({ role: 'tool', toolCallId: id, content: textOf(result ?? '') }) as const,
    ),
  ]);
}
