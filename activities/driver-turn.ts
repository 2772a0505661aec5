import { driverSigns } from '../domain/driver-signs.ts';
import type { DriverReason } from '../domain/ending.ts';
import { Fault } from '../domain/fault.ts';
import { textOf } from '../domain/json.ts';
import { driverPrompt, endConversationTool, openingCue, readDriverReply } from '../domain/managed-prompt.ts';
import type { DriverModel, ScriptStep } from '../domain/sweep-spec.ts';
import { renderText } from '../domain/template.ts';
import { scenarioVariables } from '../domain/template-variables.ts';
import type { Message } from '../domain/transcript.ts';
import { attemptCall } from './attempt.ts';
import { modelOf } from './chat-target.ts';
import { settleFault } from './fault-policy.ts';
import { renderedPrompt } from './opening.ts';
import type { ChatMessage, ChatReply, ChatRequest } from './ports.ts';
import type { StretchEnd } from './run-work.ts';
import type { NewEvent, Stretch } from './stretch.ts';

/** How often an unfit driver message is asked for, the first time included. */
const asks = 3;

/** The driver says what its script says, or a single-turn row's input. */
export async function scriptedTurn(
  stretch: Stretch,
  turn: number,
  step: Extract<ScriptStep, { kind: 'say' }> | undefined,
): Promise<void> {
  const { scenario, run } = stretch.plan;
  const text = step === undefined ? textOf(scenario.input) : renderText(step.text, scenarioVariables(scenario, run));
  await stretch.record({ kind: 'message', by: 'driver', turn, text });
}

/** The driver's model says something, or ends the conversation. */
export async function driverTurn(stretch: Stretch, driver: DriverModel, turn: number): Promise<StretchEnd | undefined> {
  for (let ask = 1; ; ask += 1) {
    const attempt = await attemptCall(stretch, {
      role: 'driver',
      called: 'model',
      model: driver.model,
      turn,
      make: (options) => stretch.deps.models.chat(modelOf(stretch, driver.model), driverRequest(stretch, driver), options),
    });
    if (attempt.kind === 'leave') return attempt.end;
    if (attempt.kind === 'fault') return settleFault(stretch, 'driver', attempt.fault);
    const said = judgeMessage(attempt.value, turn);
    if (said.fit || ask === asks) return recordMessage(stretch, attempt.event, said, turn);
    await stretch.record({ ...attempt.event, wasted: true } as NewEvent);
  }
}

type Said = {
  readonly text: string;
  readonly done?: DriverReason;
  readonly signs: readonly string[];
  readonly fit: boolean;
};

function judgeMessage(reply: ChatReply, turn: number): Said {
  const { text, done } = readDriverReply({ text: reply.text, toolCalls: reply.toolCalls });
  // Only a driver that has heard an answer may leave without a word.
  const mayBeSilent = done !== undefined && turn > 1;
  const signs = text === '' && mayBeSilent ? [] : driverSigns(text);
  return { text, signs, fit: signs.length === 0, ...(done === undefined ? {} : { done }) };
}

async function recordMessage(stretch: Stretch, event: NewEvent, said: Said, turn: number): Promise<undefined> {
  const ending = said.done === undefined ? undefined : ({ kind: 'driver_done', reason: said.done } as const);
  if (said.text === '' && ending !== undefined && said.fit) {
    await stretch.record(event, { kind: 'ended', ending });
  } else if (said.text === '') {
    await stretch.record(event);
    await settleFault(stretch, 'driver', new Fault('driver_unfit', `the driver had nothing to say ${asks} times`, { blame: 'driver' }));
  } else {
    await stretch.record(event, {
      kind: 'message',
      by: 'driver',
      turn,
      text: said.text,
      ...(said.signs.length === 0 ? {} : { marks: said.signs }),
      ...(ending === undefined ? {} : { ends: ending }),
    });
  }
}

function driverRequest(stretch: Stretch, driver: DriverModel): ChatRequest {
  const { plan, deps } = stretch;
  const { tools } = deps.models.abilities(modelOf(stretch, driver.model));
  const system = driverPrompt({ prompt: renderedPrompt(plan, driver), managed: driver.managed, tools });
  return {
    messages: [{ role: 'system', content: system }, ...asSeenByDriver(stretch.now().transcript)],
    temperature: driver.temperature,
    temperatureOptional: !driver.temperatureGiven,
    ...(tools ? { tools: [endConversationTool] } : {}),
  };
}

/** The transcript with the sides swapped: the driver's own words are the assistant's. A driver that opens gets a neutral cue. */
function asSeenByDriver(transcript: readonly Message[]): readonly ChatMessage[] {
  const cue: readonly ChatMessage[] = transcript[0]?.by === 'target' ? [] : [{ role: 'user', content: openingCue }];
  return [
    ...cue,
    ...transcript.map(({ by, text }) => ({ role: by === 'driver' ? 'assistant' : 'user', content: text }) as const),
  ];
}
