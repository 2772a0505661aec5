import { z } from 'zod';
import { sweepFileSchema } from './sweep-file/schema.ts';
import { targetTurnInputSchema, targetTurnOutputSchema } from './target-turn.ts';
import { transcriptSchema } from './transcript/schema.ts';

/** A published JSON Schema: its file name and its text. */
export type PublishedSchema = { readonly file: string; readonly text: string };

/** The JSON Schemas that editors complete sweep files and transcripts with, made of the schemas that read them. */
export function publishedSchemas(): readonly PublishedSchema[] {
  return [
    { file: 'sweep.schema.json', text: schemaText('regatta sweep file', sweepFileSchema) },
    { file: 'target-turn-input.schema.json', text: schemaText('target_turn input', targetTurnInputSchema) },
    {
      file: 'target-turn-output.schema.json',
      text: schemaText('target_turn output', targetTurnOutputSchema),
    },
    { file: 'transcript.schema.json', text: schemaText('regatta transcript', transcriptSchema) },
  ];
}

function schemaText(title: string, shape: z.ZodType): string {
  const schema = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
  return `${JSON.stringify({ title, ...schema }, null, 2)}\n`;
}
