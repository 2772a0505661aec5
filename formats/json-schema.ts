import { z } from 'zod';
import { sweepFileSchema } from './sweep-file/schema.ts';

/** A published JSON Schema: its file name and its text. */
export type PublishedSchema = { readonly file: string; readonly text: string };

/** The JSON Schemas that editors complete sweep files with, made of the schemas that read them. */
export function publishedSchemas(): readonly PublishedSchema[] {
  const schema = z.toJSONSchema(sweepFileSchema, { io: 'input', unrepresentable: 'any' });
  return [
    {
      file: 'sweep.schema.json',
      text: `${JSON.stringify({ title: 'regatta sweep file', ...schema }, null, 2)}\n`,
    },
  ];
}
