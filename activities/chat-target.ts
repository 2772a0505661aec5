import { Fault } from '../domain/fault.ts';
import type { ToolCallEvent } from '../domain/journal.ts';
import { isJsonObject, type Json, textOf } from '../domain/json.ts';
import type { ChatTarget, ToolSpec } from '../domain/sweep-spec.ts';
import { renderText } from '../domain/template.ts';
import { scenarioVariables } from '../domain/template-variables.ts';
import type { Message } from '../domain/transcript.ts';
import { type Attempt, attemptCall } from './attempt.ts';
import { settleFault } from './fault-policy.ts';
import type { AskedToolCall, ChatMessage, ChatReply, ChatTool } from './ports.ts';
import type { StretchEnd } from './run-work.ts';
import type { NewEvent, Stretch } from './stretch.ts';

/**
 * One reply of a chat model: asks it, runs the tools that it calls, and asks again until it answers with text. Each
 * step is journaled before the next, the tools' state too, so that a resumed reply goes on where it was.
 */
export async function chatReply(stretch: Stretch, target: ChatTarget, turn: number): Promise<StretchEnd | undefined> {
  for (;;) {
    const answered = await answerTools(stretch, target, turn);
    if (answered !== undefined) return answered;
    const steps = stepsOf(stretch.now().toolCalls);
    if (steps >= target.maxToolSteps) return endOfPatience(stretch, target);
    const attempt = await askModel(stretch, target, turn);
    if (attempt.kind === 'leave') return attempt.end;
    if (attempt.kind === 'fault') return settleFault(stretch, 'target', attempt.fault);
    const { value: reply, event } = attempt;
    if (reply.toolCalls.length === 0) {
      const calls = stretch.now().toolCalls.map(({ name, args, result }) => ({
        name,
        args,
        ...(result === undefined ? {} : { result }),
      }));
      await stretch.record(event, { kind: 'message', by: 'target', turn, text: reply.text, tool_calls: calls });
      return undefined;
    }
    await stretch.record(event, ...reply.toolCalls.map((call, index) => asked(call, reply, index, steps + 1, turn)));
  }
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

function askModel(stretch: Stretch, target: ChatTarget, turn: number): Promise<Attempt<ChatReply>> {
  const { deps, plan } = stretch;
  const model = modelOf(stretch, target.model);
  const tools: readonly ChatTool[] = target.tools.map(({ name, description, schema }) => ({
    name,
    schema,
    ...(description === undefined ? {} : { description }),
  }));
  const messages = chatMessages(stretch, target);
  return attemptCall(stretch, {
    role: 'target',
    called: 'model',
    model: target.model,
    turn,
    make: (options) =>
      deps.models.chat(
        model,
        {
          messages,
          ...(tools.length === 0 ? {} : { tools }),
          ...(target.temperature === undefined ? {} : { temperature: target.temperature }),
        },
        options,
      ),
    idempotencyKey: `${plan.run.id}/${stretch.now().generation}/${stretch.now().transcript.length}`,
  });
}

/** The entry of `models` with this name. */
export function modelOf(stretch: Stretch, name: string) {
  const model = stretch.plan.sweep.spec.models[name];
  if (model === undefined) throw new Error(`the spec has no model ${name}`);
  return model;
}

/** Runs the tools that were asked for and have no result yet. */
async function answerTools(stretch: Stretch, target: ChatTarget, turn: number): Promise<StretchEnd | undefined> {
  for (const call of stretch.now().toolCalls.filter((each) => each.result === undefined)) {
    try {
      const { result, state } = await answerTool(stretch, target, call);
      const answer: NewEvent = { ...call, result };
      await stretch.record(answer, ...(state === undefined ? [] : [{ kind: 'state', turn, state } as const]));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return settleFault(stretch, 'target', error);
    }
  }
  return undefined;
}

type ToolAnswer = { readonly result: Json; readonly state?: Json };

async function answerTool(stretch: Stretch, target: ChatTarget, call: ToolCallEvent): Promise<ToolAnswer> {
  const tool = target.tools.find(({ name }) => name === call.name);
  if (tool === undefined) return { result: `error: there is no tool ${call.name}` };
  if (!isJsonObject(call.args)) return { result: `error: the arguments of ${call.name} are not a JSON object` };
  return runTool(stretch, tool, call.args);
}

async function runTool(stretch: Stretch, tool: ToolSpec, args: Json): Promise<ToolAnswer> {
  const { deps, plan, signals } = stretch;
  const { id, input, expected, tags, meta } = plan.scenario;
  const scenario = { id, input, tags, meta, ...(expected === undefined ? {} : { expected }) };
  const state = stretch.now().state ?? null;
  const answer = await deps.modules.call(
    tool.module,
    'default',
    { args, scenario, runId: plan.run.id, state },
    { timeoutMs: plan.sweep.spec.timeouts.callMs, signal: signals.abort, blame: 'configuration' },
  );
  if (!isJsonObject(answer) || answer.result === undefined) {
    throw new Fault('module_error', `the tool ${tool.name} (${tool.module.file}) must return { result, state? }`, {
      blame: 'configuration',
      endpoint: tool.module.file,
    });
  }
  return { result: answer.result, ...(answer.state === undefined ? {} : { state: answer.state }) };
}

function chatMessages(stretch: Stretch, target: ChatTarget): readonly ChatMessage[] {
  const { scenario, run } = stretch.plan;
  const { transcript, toolCalls } = stretch.now();
  const latest = transcript.findLast((message) => message.by === 'driver')?.text;
  const variables = {
    ...scenarioVariables(scenario, run),
    message_history: transcript.map(({ by, text }) => ({ role: by === 'driver' ? 'user' : 'assistant', content: text })),
    latest_message: latest,
  };
  return [
    ...(target.system === undefined ? [] : [{ role: 'system', content: renderText(target.system, variables) } as const]),
    ...target.dialog.map(({ role, content }) => ({ role, content: renderText(content, variables) })),
    ...transcript.flatMap((message) => asSeenByTarget(message, target, variables)),
    ...toolDialog(toolCalls),
  ];
}

function asSeenByTarget(
  message: Message,
  target: ChatTarget,
  variables: Parameters<typeof renderText>[1],
): readonly ChatMessage[] {
  if (message.by === 'driver') {
    const content =
      target.user === undefined
        ? message.text
        : renderText(target.user, { ...variables, latest_message: message.text });
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
    ...ofStep.map(({ id, result }) => ({ role: 'tool', toolCallId: id, content: textOf(result ?? '') }) as const),
  ]);
}
