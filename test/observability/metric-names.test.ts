import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { counters, gauges, histograms } from '../../workers/metric-catalogue.ts';
import { familyOf, filledIn, panelQueries, publishedRules, selectorsOf } from './queries.ts';

/** Metrics that others export and panels or rules read. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  "Temporal's core, on the page of a worker": [
    'temporal_activity_schedule_to_start_latency_seconds',
    'temporal_sticky_cache_hit_total',
    'temporal_sticky_cache_miss_total',
    'temporal_sticky_cache_size',
    'temporal_sticky_cache_total_forced_eviction_total',
    'temporal_worker_task_slots_available',
    'temporal_worker_task_slots_used',
    'temporal_workflow_task_execution_failed_total',
    'temporal_workflow_task_schedule_to_start_latency_seconds',
  ],
  'Node and the process, on the page of a worker': [
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_heap_size_used_bytes',
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
  ],
  "a Temporal server's own page": ['approximate_backlog_count'],
  "Temporal Cloud's page": ['temporal_cloud_v1_approximate_backlog_count'],
};

const read = new Set(
  [...panelQueries(), ...publishedRules()]
    .flatMap(({ expr }) => selectorsOf(filledIn(expr)))
    .map(({ metric }) => familyOf(metric))
    .filter((metric) => !metric.startsWith('regatta:')),
);

describe('the metrics that panels and rules read', () => {
  it('are those of the catalogue: none is missing there, none is shown nowhere', () => {
    const catalogue = [counters, gauges, histograms].flatMap((part) => Object.keys(part));
    const ours = [...read].filter((metric) => metric.startsWith('regatta_'));
    assert.deepEqual(ours.sort(), catalogue.sort());
  });

  it('and the foreign ones listed here', () => {
    const others = [...read].filter((metric) => !metric.startsWith('regatta_'));
    assert.deepEqual(others.sort(), Object.values(foreign).flat().sort());
  });
});
