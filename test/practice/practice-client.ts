import type { TestContext } from 'node:test';
import { driverPrompt, endConversationTool, openingCue } from '../../domain/managed-prompt.ts';
import type { PracticeOptions } from '../../practice/options.ts';
import { type PracticeModel, startPracticeModel } from '../../practice/server.ts';

/** A practice model without latency that closes with the test. */
export async function aPracticeModel(
  test: TestContext,
  options: PracticeOptions = {},
): Promise<PracticeModel> {
  const model = await startPracticeModel({ latencyMs: 0, ...options });
  test.after(() => model.close());
  return model;
}

export type Completion = {
  readonly model: string;
  readonly choices: readonly {
    readonly finish_reason: string;
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly type: string;
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    };
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly error?: { readonly message: string; readonly code: string | null; readonly param: string | null };
};

type Headers = Readonly<Record<string, string>>;

/** Posts a chat completion request. */
export function post(model: PracticeModel, body: object, headers: Headers = {}): Promise<Response> {
  return fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'practice', ...body }),
  });
}

/** Posts a chat completion request and reads the answer. */
export async function complete(
  model: PracticeModel,
  body: object,
  headers: Headers = {},
): Promise<Completion> {
  return (await (await post(model, body, headers)).json()) as Completion;
}

/** What the driver of a brief is asked after this dialog; its own words come first. */
export function aDriverRequest(brief: string, dialog: readonly string[] = []): object {
  return {
    messages: [
      { role: 'system', content: driverPrompt({ prompt: brief, managed: true, tools: true }) },
      { role: 'user', content: openingCue },
      ...dialog.map((content, index) => ({ role: index % 2 === 0 ? 'assistant' : 'user', content })),
    ],
    tools: [aTool(endConversationTool.name, endConversationTool.schema)],
  };
}

/** A tool in the form of a request. */
export function aTool(name: string, parameters: object): object {
  return { type: 'function', function: { name, parameters } };
}

/** The text of an answer. */
export function textOf(completion: Completion): string {
  return completion.choices[0]?.message.content ?? '';
}

/** The tool call of an answer, with its arguments parsed. */
export function callOf(
  completion: Completion,
): { readonly name: string; readonly args: unknown } | undefined {
  const call = completion.choices[0]?.message.tool_calls?.[0]?.function;
  return call && { name: call.name, args: JSON.parse(call.arguments) };
}

export const hello = { messages: [{ role: 'user', content: 'Hello, my order is 4471.' }] };
