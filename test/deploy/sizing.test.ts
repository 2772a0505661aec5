import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { actionsOf, exampleRows, examples, podSlots, sizeFleet } from '../../bench/sizing.ts';
import { workerDefaults } from '../../workers/config.ts';
import { root } from '../test-files.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const [small, , large] = examples;
assert.ok(small !== undefined && large !== undefined);
/** Six runs of a moment, as the recorded histories have them. */
const momentary = { ...small, runs: 6, turns: 1, judgeCalls: 0, secondsPerCall: 0.01 };

type Recorded = { readonly workflowId: string; readonly events: readonly { readonly eventType: string }[] };

function recorded(name: string): readonly Recorded[] {
  return JSON.parse(read(`test/histories/${name}.json`)).map((entry: { history?: Recorded } & Recorded) => ({
    workflowId: entry.workflowId,
    events: entry.history?.events ?? entry.events,
  }));
}

/** What Temporal counts as actions; a child's start is two. */
const prices: Readonly<Record<string, number>> = {
  ACTIVITY_TASK_SCHEDULED: 1,
  TIMER_STARTED: 1,
  SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED: 1,
  START_CHILD_WORKFLOW_EXECUTION_INITIATED: 2,
};

const actions = ({ events }: Recorded): number =>
  events.reduce((sum, { eventType }) => sum + (prices[eventType.replace('EVENT_TYPE_', '')] ?? 0), 0);

describe('the sizing of a fleet', () => {
  it('counts as many actions as recorded histories have, but for signals of progress that went together', () => {
    const started = 1;
    const counted = recorded('whole-inline').reduce((sum, history) => sum + actions(history), started);
    // Six runs are apart by default; inline they are two actions less each.
    const estimated = actionsOf(momentary) - 2 * momentary.runs + 6;
    assert.ok(estimated >= counted && estimated <= counted + 4, `${estimated} for ${counted}`);
  });

  it('counts the one activity of a run that is a workflow, besides its start', () => {
    const run = recorded('whole-apart').find(({ workflowId }) => workflowId.endsWith('/p0/1'));
    assert.ok(run !== undefined);
    const estimated = actionsOf({ ...momentary, runs: 301 }) - actionsOf({ ...momentary, runs: 300 });
    assert.equal(estimated, 2 + actions(run));
  });

  it('takes the tightest limit of the provider', () => {
    assert.equal(sizeFleet({ ...small, rpm: 60 }).callsPerSecond, 1);
    assert.equal(sizeFleet({ ...small, tpm: 60_000 }).callsPerSecond, 1);
    assert.equal(sizeFleet({ ...small, maxInFlight: 4 }).callsPerSecond, 1);
  });

  it('opens no larger window than the provider can answer', () => {
    assert.equal(sizeFleet({ ...small, rpm: 600, tpm: 1e9 }).window, 40);
    assert.equal(sizeFleet({ ...small, runs: 5 }).window, 5);
  });

  it('has slots for the window, with some to spare', () => {
    const { pods, window } = sizeFleet(large);
    assert.ok(pods * podSlots.slots * podSlots.utilisation >= window);
    assert.ok((pods - 1) * podSlots.slots * podSlots.utilisation < window);
  });

  it('speaks of the same slots as the worker and the chart', () => {
    const values = parse(read('deploy/helm/regatta/values.yaml'));
    assert.equal(String(podSlots.slots), workerDefaults.slots);
    assert.equal(values.workers.activities.slots, podSlots.slots);
    assert.equal(values.autoscaling.targetUtilisation, podSlots.utilisation);
  });

  it('is what docs/sizing.md says', () => {
    const rows = read('docs/sizing.md')
      .split('\n')
      .filter((line) => /^\| [\d,]+000 \|/.test(line));
    assert.deepEqual(rows, exampleRows());
  });
});
