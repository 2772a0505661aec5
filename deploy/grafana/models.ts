import { type DashboardSpec, ofModel, percentiles, type RowSpec, ratePer, riseOf } from './panels.ts';

const calls: RowSpec = {
  title: 'Calls',
  panels: [
    {
      kind: 'lines',
      title: 'Calls a second',
      description: 'All tries, of models and of targets that are not chat models.',
      unit: 'reqps',
      width: 12,
      queries: [
        { expr: ratePer('model, role', ofModel('regatta_calls_total')), legend: '{{model}} {{role}}' },
      ],
    },
    {
      kind: 'stacked',
      title: 'Faulty calls a second',
      description: 'Tries that ended in a fault, by its code. Most are tried again.',
      unit: 'reqps',
      width: 12,
      queries: [
        {
          expr: ratePer('model, code', ofModel('regatta_calls_total', 'code!="ok"')),
          legend: '{{model}} {{code}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Refusals (429) a second',
      description: 'The provider asks to slow down; the pace does.',
      unit: 'reqps',
      width: 8,
      queries: [
        {
          expr: ratePer('model', ofModel('regatta_calls_total', 'code="rate_limited"')),
          legend: '{{model}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Answered calls',
      description: 'The part of tries that were answered.',
      unit: 'percentunit',
      width: 8,
      queries: [
        {
          expr: `${ratePer('model', ofModel('regatta_calls_total', 'code="ok"'))} / ${ratePer('model', ofModel('regatta_calls_total'))}`,
          legend: '{{model}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Latency of answered calls',
      description: 'Without waiting for the pace, and without tries that failed.',
      unit: 's',
      width: 8,
      queries: percentiles(
        [50, 95, 99],
        'model',
        '{{model}}',
        ofModel('regatta_call_duration_seconds_bucket'),
      ),
    },
  ],
};

const limits: RowSpec = {
  title: 'Limits and waits',
  panels: [
    {
      kind: 'lines',
      title: 'In flight against the limit',
      description:
        'Calls under way, and how many the pace of all workers lets be. The limit learns from refusals.',
      unit: 'short',
      width: 8,
      queries: [
        {
          expr: `sum by (model) (${ofModel('regatta_calls_in_flight')})`,
          legend: '{{model}} in flight',
        },
        { expr: `sum by (model) (${ofModel('regatta_pace_limit')})`, legend: '{{model}} limit' },
      ],
    },
    {
      kind: 'lines',
      title: 'Calls that wait',
      description: 'Calls that wait for the pace of their endpoint.',
      unit: 'short',
      width: 8,
      queries: [{ expr: `sum by (model) (${ofModel('regatta_calls_waiting')})`, legend: '{{model}}' }],
    },
    {
      kind: 'lines',
      title: 'Wait for the pace',
      description: 'How long calls waited before they were sent. It is never held against a run.',
      unit: 's',
      width: 8,
      queries: percentiles([50, 95], 'model', '{{model}}', ofModel('regatta_pace_wait_seconds_bucket')),
    },
  ],
};

const leases: RowSpec = {
  title: 'Leases of what an endpoint grants to all workers',
  panels: [
    {
      kind: 'lines',
      title: 'Workers that hold a part',
      description: 'Only endpoints that declare rpm, tpm or max_in_flight are shared out.',
      unit: 'short',
      width: 8,
      queries: [{ expr: `sum by (model) (${ofModel('regatta_pace_leases')})`, legend: '{{model}}' }],
    },
    {
      kind: 'stacked',
      title: 'Asks for a part a second',
      description:
        'About one in five seconds a worker. Denied: others must make room first. Failed or expired: Temporal is slow or away, and calls wait.',
      unit: 'reqps',
      width: 8,
      queries: [
        {
          expr: ratePer('model, result', ofModel('regatta_pace_leases_total')),
          legend: '{{model}} {{result}}',
        },
      ],
    },
    {
      kind: 'lines',
      title: 'Wait for an answer',
      description: 'How long asks took. A part lives for ten seconds, counted from when it was asked for.',
      unit: 's',
      width: 8,
      queries: percentiles([50, 95], 'model', '{{model}}', ofModel('regatta_pace_lease_wait_seconds_bucket')),
    },
  ],
};

const usage: RowSpec = {
  title: 'Tokens and money',
  panels: [
    {
      kind: 'stacked',
      title: 'Tokens a minute',
      description:
        'Of answered calls, as reported or estimated. Compare with the tokens a minute that the provider allows.',
      unit: 'short',
      width: 12,
      queries: [
        {
          expr: `60 * ${ratePer('model, kind', ofModel('regatta_tokens_total'))}`,
          legend: '{{model}} {{kind}}',
        },
      ],
    },
    {
      kind: 'stacked',
      title: 'Cost an hour',
      description: 'What an hour at this speed costs.',
      unit: 'currencyUSD',
      width: 6,
      queries: [
        {
          expr: `3600 * ${ratePer('model', ofModel('regatta_cost_usd_total'))}`,
          legend: '{{model}}',
        },
      ],
    },
    {
      kind: 'bars',
      title: 'Cost in the time range',
      description: 'By model and by what it was called for.',
      unit: 'currencyUSD',
      width: 6,
      queries: [
        {
          expr: riseOf('model, role', ofModel('regatta_cost_usd_total')),
          legend: '{{model}} {{role}}',
        },
      ],
    },
  ],
};

export const models: DashboardSpec = {
  uid: 'regatta-models',
  title: 'Regatta / Models',
  description: 'What is asked of model endpoints and targets, how they answer, and what it costs.',
  variables: ['namespace', 'queue', 'model'],
  rows: [calls, limits, leases, usage],
};
