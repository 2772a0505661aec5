import type { Json } from '../../domain/json.ts';

export const practiceModel = { model: 'plain', base_url: `\${PRACTICE_URL}` };

/** Each side's prompt says which conversation it is in: the practice model counts by that. */
const driver = { model: 'practice', prompt: 'You are the customer of conversation {n}.' };
const chat = { model: 'practice', system: 'You are the desk of conversation {n}.' };

export const turns = 5;
export const callsEach = 2 * turns;

/** A sweep file (JSON is YAML too) of `count` conversations of five turns between two practice models. */
export function sweepText(count: number, fields: { readonly [name: string]: Json } = {}): string {
  return JSON.stringify(
    {
      name: 'bad-day',
      models: { practice: practiceModel },
      scenarios: Array.from({ length: count }, (_, index) => ({ id: `s${index}`, input: { n: index + 1 } })),
      driver,
      target: { chat },
      concurrency: 20,
      ...fields,
    },
    undefined,
    2,
  );
}

/** A target over HTTP with sessions: the desk of `desk.ts`. */
export const deskTarget = {
  http: {
    start: { url: `\${DESK_URL}/sessions`, session_id: 'response.id' },
    send: {
      url: `\${DESK_URL}/chat`,
      body: { message: '{latest_message}', session: '{session_id}', turn: '{turn}' },
      reply: 'response.text',
    },
    end: { url: `\${DESK_URL}/end`, body: { session: '{session_id}' } },
  },
};
