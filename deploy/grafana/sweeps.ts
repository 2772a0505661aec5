import {
  type DashboardSpec,
  lastTold,
  ofSweep,
  percentiles,
  type RowSpec,
  ratePer,
  riseOf,
  told,
} from './panels.ts';

const planned = lastTold('sweep', ofSweep('regatta_sweep_planned_runs'));
const ended = `sum by (sweep) (${lastTold('sweep, outcome', ofSweep('regatta_sweep_runs'))})`;
const spent = lastTold('sweep', ofSweep('regatta_sweep_spent_usd'));
const budget = lastTold('sweep', ofSweep('regatta_sweep_budget_usd'));
const age = `time() - ${told('sweep', ofSweep('regatta_sweep_started_timestamp_seconds'))}`;

const progress: RowSpec = {
  title: 'How far',
  panels: [
    {
      kind: 'bars',
      title: 'Done',
      description: 'Runs that have ended, in any outcome, as a part of the planned ones.',
      unit: 'percentunit',
      width: 8,
      queries: [{ expr: `${ended} / ${planned}`, legend: '{{sweep}}' }],
    },
    {
      kind: 'stat',
      title: 'Time left',
      description:
        'If the rest goes as fast as the sweep did on average so far, waits and pauses included. Too short just after a resume: what was done before counts as done since then.',
      unit: 's',
      width: 8,
      queries: [
        {
          expr: `(${planned} - ${ended}) * (${age}) / (${ended} > 0)`,
          legend: '{{sweep}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Open runs and window',
      description:
        'Open runs below the window while runs wait: the budget, the end of the sweep, or too few workers.',
      unit: 'short',
      width: 8,
      queries: [
        { expr: told('sweep', ofSweep('regatta_sweep_open_runs')), legend: '{{sweep}} open' },
        { expr: told('sweep', ofSweep('regatta_sweep_window')), legend: '{{sweep}} window' },
      ],
    },
    {
      kind: 'table',
      title: 'Sweeps',
      description:
        'Sweeps of the queue. State, open runs and age are those of live sweeps, and of those that ended within five minutes.',
      unit: 'short',
      width: 24,
      queries: [
        { expr: told('sweep, state', ofSweep('regatta_sweep_state')), legend: 'State', labelsOnly: true },
        { expr: planned, legend: 'Planned' },
        { expr: ended, legend: 'Ended' },
        { expr: told('sweep', ofSweep('regatta_sweep_open_runs')), legend: 'Open' },
        { expr: spent, legend: 'Spent', unit: 'currencyUSD' },
        { expr: age, legend: 'Age', unit: 's' },
      ],
    },
    {
      kind: 'stacked',
      title: 'Ended runs by outcome',
      description: 'The tally of the sweep: what its report will count, also over restarts and lost workers.',
      unit: 'short',
      width: 12,
      queries: [
        { expr: told('sweep, outcome', ofSweep('regatta_sweep_runs')), legend: '{{sweep}} {{outcome}}' },
      ],
    },
    {
      kind: 'table',
      title: 'Halted sweeps',
      description:
        'Sweeps that open no more runs: out of budget, stopped by configuration faults or their time limit, or without an able worker. `regatta resume` goes on.',
      unit: 'short',
      width: 12,
      queries: [
        { expr: told('sweep, reason', ofSweep('regatta_sweep_halted')), legend: 'Halted', labelsOnly: true },
      ],
    },
  ],
};

const speed: RowSpec = {
  title: 'How fast',
  panels: [
    {
      kind: 'stacked',
      title: 'Runs a second',
      description: 'Results that workers wrote, by outcome.',
      unit: 'ops',
      width: 8,
      queries: [{ expr: ratePer('outcome', ofSweep('regatta_runs_total')), legend: '{{outcome}}' }],
    },
    {
      kind: 'lines',
      title: 'Turns a second',
      description: 'Turns that were played; the first sign of life of a sweep of long conversations.',
      unit: 'ops',
      width: 8,
      queries: [{ expr: ratePer('sweep', ofSweep('regatta_turns_total')), legend: '{{sweep}}' }],
    },
    {
      kind: 'lines',
      title: 'Wall time of a run',
      description: 'From opening to result, with waits for providers, pauses and absent workers.',
      unit: 's',
      width: 8,
      queries: percentiles([50, 95, 99], '', '', ofSweep('regatta_run_duration_seconds_bucket')),
    },
  ],
};

const results: RowSpec = {
  title: 'What came of it',
  panels: [
    {
      kind: 'bars',
      title: 'Endings',
      description: 'Why conversations stopped, in the time range.',
      unit: 'short',
      width: 8,
      queries: [{ expr: riseOf('ending', ofSweep('regatta_endings_total')), legend: '{{ending}}' }],
    },
    {
      kind: 'bars',
      title: 'Faults that ended runs',
      description: 'By code and by whose fault it is, in the time range.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: riseOf('code, blame', ofSweep('regatta_faults_total')),
          legend: '{{code}} ({{blame}})',
        },
      ],
    },
    {
      kind: 'bars',
      title: 'Checks by verdict',
      description: 'Checks of ended runs in the time range, of all sweeps of the queue.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: 'sum by (check, verdict) (increase(regatta_checks_total{namespace=~"$namespace",task_queue=~"$queue"}[$__range]))',
          legend: '{{check}} {{verdict}}',
        },
      ],
    },
  ],
};

const money: RowSpec = {
  title: 'What it costs',
  panels: [
    {
      kind: 'lines',
      title: 'Spend against budget',
      description:
        'What ended runs cost, and the budget where the sweep has one. Open runs are paid for, too, and come on top.',
      unit: 'currencyUSD',
      width: 12,
      queries: [
        { expr: told('sweep', ofSweep('regatta_sweep_spent_usd')), legend: '{{sweep}} spent' },
        { expr: told('sweep', ofSweep('regatta_sweep_budget_usd')), legend: '{{sweep}} budget' },
      ],
    },
    {
      kind: 'bars',
      title: 'Budget used',
      description: 'Near 1 no run is opened any more, and the sweep halts.',
      unit: 'percentunit',
      width: 12,
      queries: [{ expr: `${spent} / ${budget}`, legend: '{{sweep}}' }],
    },
  ],
};

const scenarios: RowSpec = {
  title: 'Scenarios',
  panels: [
    {
      kind: 'table',
      title: 'Most broken scenarios',
      description:
        'Runs that failed, broke or stayed undecided, in the time range. Each worker tells a hundred scenarios apart.',
      unit: 'short',
      width: 12,
      queries: [
        {
          expr: `topk(20, ${riseOf('sweep, scenario, outcome', ofSweep('regatta_scenario_runs_total'))})`,
          legend: 'Runs',
        },
      ],
    },
    {
      kind: 'table',
      title: 'Slowest scenarios',
      description: 'By the wall time of their slowest run.',
      unit: 's',
      width: 12,
      queries: [
        {
          expr: `topk(20, ${told('sweep, scenario', ofSweep('regatta_scenario_slowest_seconds'))})`,
          legend: 'Slowest run',
        },
      ],
    },
  ],
};

export const sweeps: DashboardSpec = {
  uid: 'regatta-sweeps',
  title: 'Regatta / Sweeps',
  description: 'How far sweeps are, how fast they go, what comes of them and what they cost.',
  variables: ['namespace', 'queue', 'sweep'],
  rows: [progress, speed, results, money, scenarios],
};
