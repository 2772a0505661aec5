import type { TargetCall } from '../activities/ports.ts';
import { Fault } from '../domain/fault.ts';
import type { Json } from '../domain/json.ts';
import { TemplateError, type Variables } from '../domain/template.ts';
import { scenarioVariables } from '../domain/template-variables.ts';
import type { Transcript } from '../domain/transcript.ts';

/** A message as targets see it: the driver is their user. */
export type HistoryMessage = { readonly role: 'user' | 'assistant'; readonly content: string };

/** The conversation as targets see it; the driver's latest message is its last. */
export function historyOf(transcript: Transcript): readonly HistoryMessage[] {
  return transcript.map(({ by, text }) => ({ role: by === 'driver' ? 'user' : 'assistant', content: text }));
}

/** The template variables of a target call: the row of HTTP targets in the table of variables. */
export function targetVariables(call: TargetCall, accessToken?: string): Variables {
  return {
    ...scenarioVariables(call.scenario, call),
    message_history: historyOf(call.transcript) as Json,
    latest_message: call.latestMessage,
    session_id: call.sessionId,
    access_token: accessToken,
    run_id: call.runId,
    turn: call.turn,
  };
}

/** Renders for a call; a path that its row lacks is a configuration `Fault` that names the row. */
export function rendering<T>(call: TargetCall, render: () => T): T {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new Fault('invalid_request', `scenario ${call.scenario.id}: ${error.message}`, {
      blame: 'configuration',
      cause: error,
    });
  }
}
