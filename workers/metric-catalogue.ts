/** What is known of a metric before anything was counted. */
export type MetricSpec = {
  readonly help: string;
  readonly labels: readonly string[];
};

export type HistogramSpec = MetricSpec & {
  /** Upper bounds, in seconds. */
  readonly buckets: readonly number[];
};

/** Model calls: from a cached answer to one that thinks for minutes. */
export const callBuckets: readonly number[] = [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300];
/** Conversations, and whatever else takes as long. */
export const runBuckets: readonly number[] = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600];

export const counters = {
  regatta_runs_total: {
    help: 'Runs whose result this worker wrote, by sweep and outcome.',
    labels: ['sweep', 'outcome'],
  },
  regatta_scenario_runs_total: {
    help: 'Runs that did not pass, by scenario and outcome.',
    labels: ['sweep', 'scenario', 'outcome'],
  },
  regatta_turns_total: {
    help: 'Turns played: a driver message and the reply to it.',
    labels: ['sweep'],
  },
  regatta_calls_total: {
    help: 'Calls of models and targets: code ok, or that of the fault.',
    labels: ['role', 'model', 'code'],
  },
  regatta_tokens_total: {
    help: 'Tokens of answered calls, reported or estimated; kind is input or output.',
    labels: ['role', 'model', 'kind'],
  },
  regatta_cost_usd_total: {
    help: 'Cost of answered calls in US dollars, from the price table or the sweep file.',
    labels: ['role', 'model'],
  },
  regatta_endings_total: {
    help: 'Runs by why their conversation stopped.',
    labels: ['sweep', 'ending'],
  },
  regatta_faults_total: {
    help: 'Runs that a fault ended, by its code and blame.',
    labels: ['sweep', 'code', 'blame'],
  },
  regatta_checks_total: {
    help: 'Checks of ended runs, by name and verdict.',
    labels: ['check', 'verdict'],
  },
  regatta_pace_leases_total: {
    help: "Asks for a part of an endpoint's pace: granted, denied (none is free yet), failed (no answer); and parts that expired before another came.",
    labels: ['model', 'result'],
  },
  regatta_store_failures_total: {
    help: 'Operations on the store that failed.',
    labels: ['operation'],
  },
  regatta_sweep_watch_failures_total: {
    help: 'Times that this worker could not ask Temporal how the sweeps of its queue stand.',
    labels: [],
  },
  regatta_label_overflow_total: {
    help: 'Times that a label had too many values and "other" was counted instead.',
    labels: ['label'],
  },
} as const satisfies Record<string, MetricSpec>;

export const gauges = {
  regatta_sweep_planned_runs: {
    help: 'Runs that the sweep was planned with. Sweeps are told by a few workers: take the maximum.',
    labels: ['sweep'],
  },
  regatta_sweep_runs: {
    help: 'Runs of the sweep that have ended, by outcome, as the sweep itself counts them.',
    labels: ['sweep', 'outcome'],
  },
  regatta_sweep_open_runs: {
    help: 'Runs that the sweep keeps open.',
    labels: ['sweep'],
  },
  regatta_sweep_window: {
    help: 'How many runs the sweep may keep open at once.',
    labels: ['sweep'],
  },
  regatta_sweep_spent_usd: {
    help: 'What the ended runs of the sweep cost, in US dollars.',
    labels: ['sweep'],
  },
  regatta_sweep_budget_usd: {
    help: 'The budget of the sweep in US dollars; absent where it has none.',
    labels: ['sweep'],
  },
  regatta_sweep_started_timestamp_seconds: {
    help: 'When the workflow of the sweep started.',
    labels: ['sweep'],
  },
  regatta_sweep_state: {
    help: 'Always 1; the label state says what the sweep does.',
    labels: ['sweep', 'state'],
  },
  regatta_sweep_halted: {
    help: 'Always 1; the label reason says why the sweep opens no more runs. Absent where it was not halted.',
    labels: ['sweep', 'reason'],
  },
  regatta_scenario_slowest_seconds: {
    help: 'Wall time of the slowest run of a scenario that this worker ended; the ten slowest of a sweep.',
    labels: ['sweep', 'scenario'],
  },
  regatta_queue_backlog: {
    help: "Tasks of this worker's queue that wait for a worker, as Temporal estimates them.",
    labels: ['task_type'],
  },
  regatta_calls_in_flight: {
    help: 'Model calls that were sent and are not answered yet.',
    labels: ['model'],
  },
  regatta_calls_waiting: {
    help: 'Model calls that wait for the pace of their endpoint.',
    labels: ['model'],
  },
  regatta_pace_limit: {
    help: 'Model calls that the pace lets be in flight at once.',
    labels: ['model'],
  },
  regatta_pace_leases: {
    help: "Parts of endpoints' paces that this worker holds.",
    labels: ['model'],
  },
  regatta_runs_open: {
    help: 'Runs that this worker is playing right now.',
    labels: [],
  },
  regatta_draining: {
    help: '1 once the worker was asked to stop: it takes no work and its runs move on.',
    labels: [],
  },
  regatta_contact_lost: {
    help: '1 while Temporal is not reached and calls are held back.',
    labels: [],
  },
  regatta_build_info: {
    help: 'Always 1; the labels name the build, and what a Temporal server calls namespace and queue in its own metrics.',
    labels: ['version', 'node', 'server_namespace', 'server_queue'],
  },
} as const satisfies Record<string, MetricSpec>;

export const histograms = {
  regatta_call_duration_seconds: {
    help: 'Time of answered calls, without waiting for the pace.',
    labels: ['role', 'model'],
    buckets: callBuckets,
  },
  regatta_pace_wait_seconds: {
    help: 'Time that model calls waited for the pace of their endpoint.',
    labels: ['model'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60],
  },
  regatta_pace_lease_wait_seconds: {
    help: "Time until an ask for a part of an endpoint's pace was answered.",
    labels: ['model'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4],
  },
  regatta_run_duration_seconds: {
    help: 'Wall time of runs from their opening to their result, waits included.',
    labels: ['sweep'],
    buckets: runBuckets,
  },
  regatta_store_duration_seconds: {
    help: 'Time of operations on the store that succeeded.',
    labels: ['operation'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15],
  },
} as const satisfies Record<string, HistogramSpec>;

/** Labels that every metric of a worker has besides its own; Temporal's metrics name the same things so. */
export const commonLabels = ['namespace', 'task_queue'] as const;

export type CounterName = keyof typeof counters;
export type GaugeName = keyof typeof gauges;
export type HistogramName = keyof typeof histograms;

/** Every value of a label beyond its limit is counted under this one. */
export const overflowValue = 'other';

/** Labels whose values come from sweep files, and how many of them a worker tells apart. */
export const labelLimits = {
  /** Only the live ones: a sweep that wrote no result for an hour leaves the page. */
  sweep: 20,
  model: 50,
  check: 50,
  /** Scenarios whose runs did not pass, of all live sweeps together. */
  scenario: 100,
} as const;
