import { z } from 'zod';
import { runNumbers } from '../../domain/check.ts';
import type { Json } from '../../domain/json.ts';
import { defaults } from '../defaults.ts';
import { durationPattern } from '../durations.ts';
import { fields } from '../shape-mistakes.ts';
import { transcriptSchema } from '../transcript/schema.ts';

// The shapes of a sweep file. What one key means for another (references, exactly one kind) is said by the readers
// beside this file, which then have all of a section's mistakes and not only the first.

const text = z.string();
const filled = z.string().min(1);
const texts = z.union([filled, z.array(filled).min(1)], { error: 'must be text or a list of texts' });
const json = z.custom<Json>((value) => value !== undefined, 'must have a value');
const wholeNumber = z.int().min(1);
const share = z.number().min(0).max(1);
const stringMap = z.record(z.string(), text);
const jsonMap = z.record(z.string(), json);
const marks = { at_least: z.number().exactOptional(), at_most: z.number().exactOptional() };

const durationError = 'must be a duration such as 500ms, 60s, 15m, 24h, 7d (a plain number: seconds)';
const duration = z.union([z.string().regex(durationPattern, durationError), z.number().positive()], {
  error: durationError,
});

/** An answer's path: `response.items[0].text`, `response.items.-1.text`; `response.` may be left out. */
const responsePath = z
  .string()
  .regex(/^[\w-]+(?:\.[\w-]+|\[(?:-?\d+|"[^"]*")\])*$/, 'must be a path such as response.items.0.text');

export const modelSchema = fields({
  model: filled,
  base_url: filled,
  api_key: filled.exactOptional(),
  headers: stringMap.exactOptional(),
  params: jsonMap.exactOptional(),
  rpm: z.number().positive().exactOptional(),
  tpm: z.number().positive().exactOptional(),
  max_in_flight: wholeNumber.exactOptional(),
  price: fields({ input: z.number().min(0), output: z.number().min(0) })
    .describe('USD per million tokens')
    .exactOptional(),
});

export const scenarioRowSchema = fields({
  id: z
    .union([filled, z.number(), z.boolean()], { error: 'must be text or a number' })
    .exactOptional()
    .describe('default: the file name and a hash of the row'),
  input: json,
  expected: json.exactOptional(),
  result: json.exactOptional(),
  expectation: json.exactOptional(),
  tags: z.union([text, z.array(text)], { error: 'must be text or a list of texts' }).exactOptional(),
  meta: jsonMap.exactOptional(),
  repeats: wholeNumber.exactOptional(),
  threshold: share.exactOptional(),
});

export const scenarioFileSchema = fields({
  file: filled.describe(
    '*.jsonl, *.csv, *.yaml or *.json, with wildcards; relative to this file; YAML with `turns` is a transcript',
  ),
});

const scriptStep = z.union([filled, fields({ say: filled }), fields({ drive: wholeNumber })], {
  error: 'must be text, `say: TEXT` or `drive: N`',
});

export const driverSchema = fields({
  model: filled.exactOptional(),
  prompt: filled.exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  managed: z.boolean().exactOptional(),
  faithful: filled.exactOptional(),
  script: z.array(scriptStep).min(1).exactOptional(),
});

const headers = z.union([stringMap, text], { error: 'must be a map, or JSON text of one' });
const request = {
  url: filled,
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).exactOptional(),
  headers: headers.exactOptional(),
  body: json.exactOptional(),
  status: z.int().min(100).max(599).exactOptional(),
};

const ruleValue = z
  .union([text, z.number(), z.boolean()], { error: 'must be text' })
  .describe('true or false: the boolean; *: anything but null; else the exact text');
const streaming = fields({
  stop: z
    .array(fields({ value: ruleValue, path: responsePath.exactOptional() }))
    .exactOptional()
    .describe('any of these ends the stream; without a path the payload itself is compared'),
  select: z
    .array(fields({ path: responsePath, value: ruleValue }))
    .exactOptional()
    .describe('only chunks that meet all of these count'),
})
  .exactOptional()
  .describe('the answer is a stream of events or of JSON lines');

/** How often and how many calls: of an HTTP target also under `http`. */
const callLimits = {
  retries: z.int().min(1).max(100).exactOptional(),
  idempotent: z.boolean().exactOptional(),
  max_parallel_requests: wholeNumber.exactOptional(),
};

export const httpSchema = fields({
  auth: fields({
    ...request,
    access_token: responsePath,
    expires_in: responsePath.exactOptional(),
  }).exactOptional(),
  start: fields({
    ...request,
    session_id: responsePath.exactOptional(),
    greeting: responsePath.exactOptional(),
    streaming,
  }).exactOptional(),
  send: fields({
    ...request,
    reply: responsePath,
    tool_calls: responsePath.exactOptional(),
    session_id: responsePath.exactOptional(),
    metadata: responsePath.exactOptional(),
    streaming,
  }).exactOptional(),
  chat_events: z
    .union(
      [filled, fields({ url: filled, headers: headers.exactOptional(), body: jsonMap.exactOptional() })],
      {
        error: 'must be an address, or a map with url, headers, body',
      },
    )
    .exactOptional()
    .describe('in place of send: a chat endpoint that answers with server-sent events'),
  end: fields(request).exactOptional(),
  ...callLimits,
});

export const chatSchema = fields({
  model: filled,
  system: text.exactOptional(),
  user: filled.exactOptional(),
  dialog: z.array(fields({ role: z.enum(['system', 'user', 'assistant']), content: filled })).exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  tools: z
    .record(z.string(), fields({ description: text.exactOptional(), schema: jsonMap, module: filled }))
    .exactOptional(),
  max_tool_steps: wholeNumber.exactOptional(),
});

const queueName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be letters, digits, dots, dashes or underscores');

export const targetSchema = fields({
  chat: chatSchema.exactOptional(),
  http: httpSchema.exactOptional(),
  module: z
    .union(
      [
        filled,
        fields({
          file: filled,
          calls: z
            .enum(['conversation', 'single', 'batch'])
            .exactOptional()
            .describe(
              'conversation: reply or invoke(messages, ...); single: invoke(input); batch: invokeBatch(inputs)',
            ),
          batch_size: wholeNumber.max(10_000).exactOptional(),
        }),
      ],
      { error: 'must be a file, or a map with file, calls, batch_size' },
    )
    .exactOptional(),
  queue: z
    .union([queueName, fields({ name: queueName })], { error: 'must be a name, or a map with name' })
    .exactOptional()
    .describe('a worker of any Temporal SDK serves target_turn on the task queue target.NAME'),
  script: fields({ replies: z.array(text).min(1) }).exactOptional(),
  ...callLimits,
  on_unsure_turn: z.enum(['restart', 'resend', 'break']).exactOptional(),
  on_lost_session: z.enum(['restart', 'break']).exactOptional(),
  target_faults: z.enum(['failed', 'broken']).exactOptional(),
});

export const conversationSchema = fields({
  first: z.enum(['driver', 'target']).exactOptional(),
  max_turns: z.int().min(1).max(1000).exactOptional(),
  stop: fields({ check: filled, on: z.enum(['pass', 'fail']).exactOptional() }).exactOptional(),
});

const numberKind = z.union([z.literal(true), fields(marks)], {
  error: 'must be a map with at_least or at_most',
});
const numberKinds = Object.fromEntries(
  runNumbers.map((name) => [name, numberKind.exactOptional()]),
) as Record<(typeof runNumbers)[number], z.ZodExactOptional<typeof numberKind>>;

export const checkSchema = fields({
  contains_any: texts.exactOptional(),
  contains_all: texts.exactOptional(),
  matches_any: texts.exactOptional(),
  matches_all: texts.exactOptional(),
  equals: text.exactOptional(),
  is_json: z.literal(true).exactOptional(),
  levenshtein: text.exactOptional(),
  calls_include: texts.exactOptional(),
  calls_exclude: texts.exactOptional(),
  call_args: fields({
    tool: filled,
    args: json,
    match: z.enum(['subset', 'deep', 'exact']).exactOptional(),
  }).exactOptional(),
  max_calls: z.int().min(0).exactOptional(),
  ...numberKinds,
  judge: filled.exactOptional(),
  code: filled.exactOptional(),
  // Options.
  case_sensitive: z.boolean().exactOptional(),
  ordered: z
    .union([z.boolean(), texts], { error: 'must be true or false, or a list of texts' })
    .exactOptional()
    .describe('true beside calls_include; or, as a kind, the tools in their order'),
  match: z.enum(['subset', 'deep', 'exact']).exactOptional(),
  tool: filled.exactOptional(),
  rubric: filled.exactOptional(),
  scale: z
    .string()
    .regex(/^-?\d+(?:\.\d+)?\.\.-?\d+(?:\.\d+)?$/, 'must be a scale such as 1..5')
    .exactOptional(),
  choices: z.record(z.string(), z.number()).exactOptional(),
  votes: z.int().min(1).max(25).exactOptional(),
  sees: z.enum(['replies', 'last_reply', 'transcript', 'transcript_and_tools']).exactOptional(),
  at: z.enum(['end', 'each_turn']).exactOptional(),
  rollup: z.enum(['any', 'all', 'last', 'mean']).exactOptional(),
  required: z.boolean().exactOptional(),
  not: z.boolean().exactOptional(),
  for_tag: filled.exactOptional(),
  ...marks,
});

export const timeoutsSchema = fields({
  call: duration.exactOptional(),
  run: duration.exactOptional(),
  give_up: duration.exactOptional(),
  sweep: duration.exactOptional(),
  stretch: duration.exactOptional(),
});

/** The sections of a sweep file, each read on its own. */
export const sections = {
  $schema: text.exactOptional(),
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/,
      'must be at most 60 letters, digits, dots, dashes or underscores',
    )
    .exactOptional(),
  models: z.record(z.string().min(1), modelSchema).exactOptional(),
  judge: filled.exactOptional().describe('an entry of models: judges where a transcript names none'),
  scenarios: z.array(z.union([scenarioRowSchema, scenarioFileSchema, transcriptSchema])),
  driver: driverSchema.exactOptional(),
  target: targetSchema.exactOptional(),
  targets: z.record(z.string().min(1), targetSchema).exactOptional(),
  conversation: conversationSchema.exactOptional(),
  repeats: wholeNumber.exactOptional(),
  checks: z.record(z.string(), checkSchema).exactOptional(),
  thresholds: z.array(text).exactOptional(),
  allow_missing: share.exactOptional(),
  concurrency: wholeNumber.max(100_000).exactOptional(),
  budget_usd: z.number().positive().exactOptional(),
  timeouts: timeoutsSchema.exactOptional(),
  seed: z.int().min(0).exactOptional(),
};

/** A whole sweep file, as it is written; the published JSON Schema is made of it. */
export const sweepFileSchema = fields(sections).describe(
  `A sweep: scenarios, driver, target, checks, thresholds. Defaults: ${Object.entries(defaults)
    .map(([path, value]) => `${path} ${value}`)
    .join(', ')}.`,
);

/** A sweep file as a TypeScript module exports it. */
export type SweepFile = z.input<typeof sweepFileSchema>;
