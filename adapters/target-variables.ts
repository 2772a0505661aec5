import type { TargetCall } from '../activities/ports.ts';
import { Fault } from '../domain/fault.ts';
import { TemplateError, type Variables } from '../domain/template.ts';
import { scenarioVariables } from '../domain/template-variables.ts';
import { historyOf } from '../domain/transcript.ts';

/** The template variables of a target call: the row of HTTP targets in the table of variables. */
export function targetVariables(call: TargetCall, accessToken?: string): Variables {
  return {
    ...scenarioVariables(call.scenario, call),
    message_history: historyOf(call.transcript),
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
