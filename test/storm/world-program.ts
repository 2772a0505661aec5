import type { ServerResponse } from 'node:http';
import process from 'node:process';
import { type PracticeRequest, textsOf } from '../../practice/request.ts';
import { startPracticeModel } from '../../practice/server.ts';
import { type DeskRequest, openDesk } from './desk.ts';
import type { SeenCall } from './seen-call.ts';
import type { WorldOptions } from './world.ts';

// The practice model and the desk in a process of their own, which remember every call. Told over IPC.

const { latencyMs, jitterMs, seed, faults } = JSON.parse(process.argv[2] ?? '') as WorldOptions;
const calls: (SeenCall & { until?: number })[] = [];

function note(response: ServerResponse, call: Omit<SeenCall, 'worker' | 'at'>): void {
  const seen: (typeof calls)[number] = { ...call, worker: headerOf(response, 'x-worker'), at: Date.now() };
  calls.push(seen);
  response.once('close', () => {
    seen.until = Date.now();
  });
}

function headerOf({ req }: ServerResponse, name: string): string {
  return String(req.headers[name] ?? '');
}

/** Judges name the conversation in their rubric. */
function conversationOf(request: PracticeRequest): string {
  const texts = ['system', 'user'].flatMap((role) => textsOf(request, role)).join('\n');
  return /\bconversation ([\w-]*\d[\w-]*)/.exec(texts)?.[1] ?? '';
}

function noteDesk({ door, conversation, session, response }: DeskRequest): void {
  const key = `${door} ${session} ${headerOf(response, 'idempotency-key')}`;
  note(response, { door, conversation, session, key });
}

const desk = await openDesk(latencyMs, noteDesk);
const practice = await startPracticeModel({
  ...{ latencyMs, jitterMs, seed, faults },
  onCall: (conversation, { request, role, content, fault, response }) =>
    note(response, {
      ...{ door: 'model', role, key: content },
      conversation: conversation ?? conversationOf(request),
      ...(fault === undefined ? {} : { fault }),
    }),
});

process.on('message', () => process.send?.(calls));
process.on('disconnect', () => process.exit());
// Whoever ends the storm from a terminal asks the whole group; this one goes when its parent has let go of it.
process.on('SIGINT', () => {});
process.send?.({ modelUrl: practice.url, deskUrl: desk.url });
