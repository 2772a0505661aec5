import { z } from 'zod';
import type { Json } from '../domain/json.ts';

// The contract of the activity `target_turn`, which a worker of any Temporal SDK serves on the queue of a target.

const json = z.custom<Json>((value) => value !== undefined);
const args = z
  .union([z.record(z.string(), json), z.string()])
  .describe('a map, or JSON text of one')
  .exactOptional();
const name = z.string().min(1);

/** What the activity is asked. */
export const targetTurnInputSchema = z.strictObject({
  run_id: z.string().describe('the conversation: SWEEP/SCENARIO/REPEAT'),
  idempotency_key: z.string().describe('the same for each try of a turn, and for no other turn'),
  session_id: z.string().nullable().describe('what the target gave as its session; null before it did'),
  input: json.describe('the input of the scenario'),
  latest_message: z.string().nullable().describe('null where the target speaks first'),
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() }))
    .exactOptional()
    .describe('the whole conversation, at most 128 KB; only while there is no session'),
});

/** What it answers, at most 64 KB. */
export const targetTurnOutputSchema = z.looseObject({
  text: z.string().nullable().exactOptional().describe('empty only beside tool calls or an end'),
  tool_calls: z
    .array(
      z.union([
        z.looseObject({ name, args }),
        z.looseObject({ name, arguments: args }),
        z.looseObject({ function: z.looseObject({ name, arguments: args }) }),
      ]),
    )
    .nullable()
    .exactOptional(),
  session_id: z
    .string()
    .nullable()
    .exactOptional()
    .describe('names the memory of this conversation from now on'),
  end: z.boolean().exactOptional().describe('true: the target hangs up with this reply'),
});
