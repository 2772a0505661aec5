import { type DashboardSpec, ofFleet, percentiles, type RowSpec, ratePer, riseOf, told } from './panels.ts';

const workers: RowSpec = {
  title: 'Workers',
  panels: [
    {
      kind: 'lines',
      title: 'Workers',
      description: 'Worker processes that are scraped, by version.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: `count by (task_queue, version) (${ofFleet('regatta_build_info')})`,
          legend: '{{task_queue}} {{version}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Workers that take no work',
      description:
        'Draining: asked to stop, conversations end after the message in flight. Cut off: Temporal is not reached, calls are held back.',
      unit: 'short',
      width: 8,
      queries: [
        { expr: `sum by (task_queue) (${ofFleet('regatta_draining')})`, legend: '{{task_queue}} draining' },
        {
          expr: `sum by (task_queue) (${ofFleet('regatta_contact_lost')})`,
          legend: '{{task_queue}} cut off',
        },
      ],
    },
    {
      kind: 'stacked',
      title: 'Runs being played',
      description: 'Open conversations by worker.',
      unit: 'short',
      width: 8,
      queries: [{ expr: `sum by (instance) (${ofFleet('regatta_runs_open')})`, legend: '{{instance}}' }],
    },
  ],
};

const temporal: RowSpec = {
  title: 'Temporal',
  panels: [
    {
      kind: 'lines',
      title: 'Backlog',
      description:
        'Tasks that wait for a worker, as Temporal estimates them. A first stretch of every open run waits here when slots are short.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: told('task_queue, task_type', ofFleet('regatta_queue_backlog')),
          legend: '{{task_queue}} {{task_type}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Slots',
      description: 'Tasks that workers play, and places that are free.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: `sum by (worker_type) (${ofFleet('temporal_worker_task_slots_used')})`,
          legend: '{{worker_type}} used',
        },
        {
          expr: `sum by (worker_type) (${ofFleet('temporal_worker_task_slots_available')})`,
          legend: '{{worker_type}} free',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Schedule to start',
      description:
        'How long tasks wait for a worker, p95. Seconds for activities: slots are short. For workflow tasks: CPU is short.',
      unit: 's',
      width: 8,
      queries: [
        ...percentiles(
          [95],
          '',
          'activity',
          ofFleet('temporal_activity_schedule_to_start_latency_seconds_bucket'),
        ),
        ...percentiles(
          [95],
          '',
          'workflow task',
          ofFleet('temporal_workflow_task_schedule_to_start_latency_seconds_bucket'),
        ),
      ],
    },
    {
      kind: 'lines',
      title: 'Workflow cache',
      description:
        'Workflows that are kept in memory; one that was evicted is replayed when its next task comes.',
      unit: 'short',
      width: 8,
      queries: [
        { expr: `sum by (instance) (${ofFleet('temporal_sticky_cache_size')})`, legend: '{{instance}}' },
      ],
    },
    {
      kind: 'lines',
      title: 'Cache hits and evictions a second',
      description:
        'Evictions that go on: more workflows are open than the workers keep. Add workers, or use --bulk.',
      unit: 'ops',
      width: 8,
      queries: [
        {
          expr: `sum(rate(${ofFleet('temporal_sticky_cache_hit_total')}[$__rate_interval]))`,
          legend: 'hits',
        },
        {
          expr: `sum(rate(${ofFleet('temporal_sticky_cache_miss_total')}[$__rate_interval]))`,
          legend: 'misses',
        },
        {
          expr: `sum(rate(${ofFleet('temporal_sticky_cache_total_forced_eviction_total')}[$__rate_interval]))`,
          legend: 'evictions',
        },
      ],
    },
    {
      kind: 'bars',
      title: 'Failed workflow tasks',
      description: 'In the time range. One that repeats is a bug, or a workflow of another build.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: riseOf(
            'workflow_type, failure_reason',
            ofFleet('temporal_workflow_task_execution_failed_total'),
          ),
          legend: '{{workflow_type}} {{failure_reason}}',
        },
      ],
    },
  ],
};

const processes: RowSpec = {
  title: 'Processes',
  panels: [
    {
      kind: 'lines',
      title: 'CPU',
      description: 'Cores in use by worker. One core is what JavaScript of one process can take.',
      unit: 'short',
      width: 8,
      queries: [{ expr: ratePer('instance', ofFleet('process_cpu_seconds_total')), legend: '{{instance}}' }],
    },
    {
      kind: 'lines',
      title: 'Memory',
      description: 'Resident memory by worker, and the part of it that is JavaScript heap.',
      unit: 'bytes',
      width: 8,
      queries: [
        { expr: `sum by (instance) (${ofFleet('process_resident_memory_bytes')})`, legend: '{{instance}}' },
        {
          expr: `sum by (instance) (${ofFleet('nodejs_heap_size_used_bytes')})`,
          legend: '{{instance}} heap',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Event loop lag',
      description:
        'p99 by worker. Above half a second calls look slower than they are, and heartbeats come late.',
      unit: 's',
      width: 8,
      queries: [
        {
          expr: `max by (instance) (${ofFleet('nodejs_eventloop_lag_p99_seconds')})`,
          legend: '{{instance}}',
        },
      ],
    },
  ],
};

const store: RowSpec = {
  title: 'Store',
  panels: [
    {
      kind: 'stacked',
      title: 'Operations a second',
      description: 'Operations on the store that succeeded.',
      unit: 'ops',
      width: 8,
      queries: [
        {
          expr: ratePer('operation', ofFleet('regatta_store_duration_seconds_count')),
          legend: '{{operation}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Time of an operation',
      description: 'p95 by operation. Every message waits for an append.',
      unit: 's',
      width: 8,
      queries: percentiles(
        [95],
        'operation',
        '{{operation}}',
        ofFleet('regatta_store_duration_seconds_bucket'),
      ),
    },
    {
      kind: 'bars',
      title: 'Failures',
      description: 'In the time range, by operation. Nothing is lost by them: stretches wait for the store.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: riseOf('operation', ofFleet('regatta_store_failures_total')),
          legend: '{{operation}}',
        },
      ],
    },
  ],
};

const itself: RowSpec = {
  title: 'These dashboards',
  panels: [
    {
      kind: 'bars',
      title: 'Labels beyond their limit',
      description:
        'Values that are counted under "other", in the time range: those panels show less than there is.',
      unit: 'short',
      width: 12,
      queries: [{ expr: riseOf('label', ofFleet('regatta_label_overflow_total')), legend: '{{label}}' }],
    },
    {
      kind: 'bars',
      title: 'Sweeps that could not be asked',
      description:
        'Times in the range that a worker got no answer on how sweeps stand: their numbers may be a minute old, or missing.',
      unit: 'short',
      width: 12,
      queries: [
        {
          expr: riseOf('task_queue', ofFleet('regatta_sweep_watch_failures_total')),
          legend: '{{task_queue}}',
        },
      ],
    },
  ],
};

export const fleet: DashboardSpec = {
  uid: 'regatta-fleet',
  title: 'Regatta / Fleet',
  description: 'The worker processes of a task queue, what Temporal hands them, and their store.',
  variables: ['namespace', 'queue'],
  rows: [workers, temporal, processes, store, itself],
};
