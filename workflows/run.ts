import { setHandler } from '@temporalio/workflow';
import type { RunSummary } from '../activities/run-work.ts';
import { pauseRunSignal, type RunInput } from './messages.ts';
import { playRun } from './play-run.ts';
import { createRunControl } from './run-control.ts';

/** One conversation as a workflow of its own: visible, cancellable and resettable in Temporal's own tools. */
export async function runWorkflow(input: RunInput): Promise<RunSummary> {
  const control = createRunControl(false);
  setHandler(pauseRunSignal, (paused) => control.setPaused(paused));
  return playRun(input, control);
}
