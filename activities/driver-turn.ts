import { driverSigns } from '../domain/driver-signs.ts';
import type { Ending } from '../domain/ending.ts';
import { Fault } from '../domain/fault.ts';
import { textOf } from '../domain/json.ts';
import { driverPrompt, endConversationTool, openingCue, readDriverReply } from '../domain/managed-prompt.ts';
import type { DriverModel, ScriptStep } from '../domain/sweep-spec.ts';
import { renderText } from '../domain/template.ts';
import { scenarioVariables } from '../domain/template-variables.ts';
import type { Message } from '../domain/transcript.ts';
import { makeCall } from './call.ts';
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
  const text =
    step === undefined ? textOf(scenario.input) : renderText(step.text, scenarioVariables(scenario, run));
  await stretch.record({ kind: 'message', by: 'driver', turn, text });
}

/** The driver's model says something, or ends the conversation. What no person would write is asked for again. */
export async function driverTurn(
  stretch: Stretch,
  driver: DriverModel,
  turn: number,
): Promise<StretchEnd | undefined> {
  const called = await makeCall(stretch, {
    role: 'driver',
    called: 'model',
    model: driver.model,
    turn,
    make: async (options) =>
      stretch.deps.models.chat(modelOf(stretch, driver.model), driverRequest(stretch, driver), options),
  });
  if (called.kind === 'leave') return called.end;
  if (called.kind === 'fault') return settleFault(stretch, 'driver', driverFault(called.fault));
  const said = judgeMessage(called.value, turn);
  if (said.signs.length === 0 || stretch.now().unfit + 1 >= asks)
    return recordMessage(stretch, called.event, said, turn);
  await stretch.record({ ...called.event, wasted: true } as NewEvent);
  return undefined;
}

/** A model that has no words is an unfit driver, not a provider that is out of order. */
function driverFault(fault: Fault): Fault {
  return fault.wordless ? wordlessDriver(fault.endpoint) : fault;
}

function wordlessDriver(endpoint?: string): Fault {
  const message = `the driver had nothing to say ${asks} times`;
  return new Fault('driver_unfit', message, {
    blame: 'driver',
    ...(endpoint === undefined ? {} : { endpoint }),
  });
}

type Said = {
  readonly text: string;
  readonly ends?: Ending;
  readonly signs: readonly string[];
};

function judgeMessage(reply: ChatReply, turn: number): Said {
  const { text, done } = readDriverReply(reply);
  if (done === undefined) return { text, signs: driverSigns(text) };
  const ends = { kind: 'driver_done', reason: done } as const;
  // Only a driver that has heard an answer may leave without a word.
  return { text, ends, signs: text === '' && turn > 1 ? [] : driverSigns(text) };
}

async function recordMessage(
  stretch: Stretch,
  event: NewEvent,
  said: Said,
  turn: number,
): Promise<undefined> {
  const { text, ends, signs } = said;
  if (text === '' && signs.length === 0 && ends !== undefined) {
    await stretch.record(event, { kind: 'ended', ending: ends });
  } else if (signs.includes('empty')) {
    await stretch.record(event);
    await settleFault(stretch, 'driver', wordlessDriver());
  } else {
    const marks = signs.length === 0 ? {} : { marks: signs };
    await stretch.record(event, {
      ...{ kind: 'message', by: 'driver', turn, text },
      ...marks,
      ...(ends === undefined ? {} : { ends }),
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
  const cue: readonly ChatMessage[] =
    transcript[0]?.by === 'target' ? [] : [{ role: 'user', content: openingCue }];
  return [
    ...cue,
    ...transcript.map(
      ({ by, text }) => ({ role: by === 'driver' ? 'assistant' : 'user', content: text }) as const,
    ),
  ];
}
