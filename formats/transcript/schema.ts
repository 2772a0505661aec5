import { z } from 'zod';
import type { Json } from '../../domain/json.ts';
import { defaults } from '../defaults.ts';
import { fields } from '../shape-mistakes.ts';

// The shapes of a transcript file. What one key means for another is said by the readers beside this file.

const text = z.string();
const filled = z.string().min(1);
const texts = z.array(text);
const names = z.array(filled);
const argsMap = z.record(
  z.string(),
  z.custom<Json>((value) => value !== undefined, 'must have a value'),
);
const thresholdError = 'must be a share from 0 to 1, or runs of runs such as 2/3';

export const judgeSchema = fields({
  rubric: filled.describe('what the judge decides about this turn'),
  model: filled
    .exactOptional()
    .describe('an entry of models, or provider:model; default: the judge of the sweep'),
});

export const argsSchema = fields({
  tool: filled,
  args: argsMap.exactOptional(),
  mode: z
    .enum(['subset', 'deep', 'exact'])
    .exactOptional()
    .describe('subset: each expected top-level key with an equal value; deep: at every depth'),
  judge: judgeSchema.exactOptional(),
});

export const expectSchema = fields({
  evaluators: names.exactOptional().describe('modules that export evaluate(ctx), relative to this file'),
  judge: judgeSchema.exactOptional(),
  tool_calls_include: names.exactOptional(),
  tool_calls_exclude: names.exactOptional(),
  tool_calls_ordered: z
    .boolean()
    .exactOptional()
    .describe('tool_calls_include in this order, others between'),
  tool_calls_args: z.array(argsSchema).exactOptional(),
  reply_contains_any: texts.exactOptional(),
  reply_contains_all: texts.exactOptional(),
  reply_matches_any: texts
    .exactOptional()
    .describe("regular expressions in Python's dialect, letter case aside"),
  reply_matches_all: texts.exactOptional(),
});

export const turnSchema = fields({
  user: text.describe('what the person says; not a template'),
  audio: filled.exactOptional().describe('a WAV file (mono, 16-bit), relative to this file'),
  expect: expectSchema.exactOptional(),
});

/** A transcript file, as it is written; the published JSON Schema is made of it. */
export const transcriptSchema = fields({
  $schema: text.exactOptional(),
  id: z.union([filled, z.number(), z.boolean()], { error: 'must be text' }),
  threshold: z
    .union([z.number().min(0).max(1), z.string().regex(/^\s*\d+\s*\/\s*[1-9]\d*\s*$/)], {
      error: thresholdError,
    })
    .exactOptional()
    .describe(
      `share of runs that must pass, such as 0.8 or 2/3; default ${defaults['transcript.threshold']}`,
    ),
  min_pass: z.int().min(0).exactOptional().describe('how many runs must pass, in the place of threshold'),
  runs: z.int().min(1).exactOptional().describe("how often it is played; default: the sweep's repeats"),
  tags: z.array(filled).exactOptional(),
  on_turn_fail: z.enum(['continue', 'stop']).exactOptional(),
  turns: z.array(turnSchema).min(1),
}).describe('A transcript: what a person says turn by turn, and what is expected of each reply.');

/** A transcript as it is written. */
export type TranscriptFile = z.input<typeof transcriptSchema>;
export type RawTranscript = z.output<typeof transcriptSchema>;
export type RawTurn = RawTranscript['turns'][number];
export type RawExpect = NonNullable<RawTurn['expect']>;
export type RawJudge = z.output<typeof judgeSchema>;
