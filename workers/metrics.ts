import { collectDefaultMetrics, Registry } from 'prom-client';
import type { CallRecord, Meter } from '../activities/ports.ts';
import { firstValues } from './label-values.ts';
import { labelLimits } from './metric-catalogue.ts';
import { type MetricMakers, metricMakers } from './metric-makers.ts';
import { progressMetrics } from './progress-metrics.ts';
import { runMetrics } from './run-metrics.ts';
import { type MeterStore, storeMetrics } from './store-metrics.ts';
import type { QueueReading } from './sweep-watch.ts';

/** What an endpoint is doing right now. */
export type EndpointReading = {
  readonly model: string;
  readonly inFlight: number;
  readonly waiting: number;
  readonly limit: number;
  /** Whether it holds a part of what the endpoint grants to all workers. */
  readonly isLeased: boolean;
};

/** What became of an ask for a part of an endpoint's pace; `ms` where it was answered. */
export type LeaseNote = {
  readonly model: string;
  readonly result: 'granted' | 'denied' | 'failed' | 'expired';
  readonly ms?: number;
};

export type MetricsOptions = {
  /** Regatta's. */
  readonly version: string;
  /** Node's. */
  readonly node: string;
  /** What the worker works for: labels of every metric. */
  readonly namespace: string;
  readonly queue: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

export type Metrics = {
  readonly meter: Meter;
  readonly meterStore: MeterStore;
  onPaceWait(wait: { readonly model: string; readonly ms: number }): void;
  onLease(note: LeaseNote): void;
  showSweeps(reading: QueueReading | undefined): void;
  sweepWatchFailed(): void;
  /** Asked for at each reading of the page. */
  watchEndpoints(readings: () => readonly EndpointReading[]): void;
  watchContact(isReachable: () => boolean): void;
  drains(): void;
  /** The page in Prometheus' text format 0.0.4. */
  text(): Promise<string>;
};

/** Counters that Node's own metrics call `_total` although they are gauges, which Prometheus' linter refuses. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** The metrics of one worker process, in a registry of their own, with Node's beside them. */
export function createMetrics({ version, node, namespace, queue, now }: MetricsOptions): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ namespace, task_queue: queue });
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const makers = metricMakers(registry);
  const { counter, gauge, histogram } = makers;

  const overflow = counter('regatta_label_overflow_total');
  const onOverflow = (label: keyof typeof labelLimits) => overflow.inc({ label });
  const models = firstValues({ limit: labelLimits.model, onOverflow: () => onOverflow('model') });
  const runs = runMetrics(makers, { now, onOverflow });
  const watchFailures = counter('regatta_sweep_watch_failures_total');
  const open = gauge('regatta_runs_open');
  const paceWait = histogram('regatta_pace_wait_seconds');
  const draining = gauge('regatta_draining');
  const contactLost = gauge('regatta_contact_lost');
  const showEndpoints = endpointGauges(makers, models.admit);
  const server = { server_namespace: asServerWrites(namespace), server_queue: asServerWrites(queue) };
  gauge('regatta_build_info').set({ version, node, ...server }, 1);

  let isReachable = () => true;
  let readings: () => readonly EndpointReading[] = () => [];
  return {
    meter: {
      call: callMeter(makers, models.admit),
      turn: runs.turn,
      runOpened: () => open.inc(),
      runLeft: () => open.dec(),
      runEnded: runs.ended,
    },
    meterStore: storeMetrics(makers, now),
    onPaceWait: ({ model, ms }) => paceWait.observe({ model: models.admit(model) }, ms / 1000),
    onLease: leaseMeter(makers, models.admit),
    showSweeps: progressMetrics(makers, () => onOverflow('sweep')),
    sweepWatchFailed: () => watchFailures.inc(),
    watchEndpoints(read) {
      readings = read;
    },
    watchContact(ask) {
      isReachable = ask;
    },
    drains: () => draining.set(1),
    async text() {
      runs.prune();
      contactLost.set(isReachable() ? 0 : 1);
      showEndpoints(readings());
      return registry.metrics();
    },
  };
}

/** Temporal's server keeps only letters, digits and underscores in the labels of its metrics. */
function asServerWrites(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, '_');
}

function callMeter({ counter, histogram }: MetricMakers, admit: (model: string) => string) {
  const calls = counter('regatta_calls_total');
  const durations = histogram('regatta_call_duration_seconds');
  const tokens = counter('regatta_tokens_total');
  const cost = counter('regatta_cost_usd_total');
  return ({ role, model: name, code, ms, usage, costUsd }: CallRecord): void => {
    const model = admit(name);
    calls.inc({ role, model, code });
    // The time of a fault says when it was noticed, not how fast the other side is.
    if (code === 'ok') durations.observe({ role, model }, ms / 1000);
    if (usage !== undefined) {
      tokens.inc({ role, model, kind: 'input' }, usage.inputTokens);
      tokens.inc({ role, model, kind: 'output' }, usage.outputTokens);
    }
    if (costUsd > 0) cost.inc({ role, model }, costUsd);
  };
}

function leaseMeter({ counter, histogram }: MetricMakers, admit: (model: string) => string) {
  const leases = counter('regatta_pace_leases_total');
  const waits = histogram('regatta_pace_lease_wait_seconds');
  return ({ model: name, result, ms }: LeaseNote): void => {
    const model = admit(name);
    leases.inc({ model, result });
    if (ms !== undefined) waits.observe({ model }, ms / 1000);
  };
}

/** Several endpoints may go by one name (other sweeps, other keys): their sum is shown. */
function endpointGauges({ gauge }: MetricMakers, admit: (model: string) => string) {
  const inFlight = gauge('regatta_calls_in_flight');
  const waiting = gauge('regatta_calls_waiting');
  const limit = gauge('regatta_pace_limit');
  const leases = gauge('regatta_pace_leases');
  return (readings: readonly EndpointReading[]): void => {
    for (const each of [inFlight, waiting, limit, leases]) each.reset();
    for (const reading of readings) {
      const model = admit(reading.model);
      inFlight.inc({ model }, reading.inFlight);
      waiting.inc({ model }, reading.waiting);
      limit.inc({ model }, reading.limit);
      leases.inc({ model }, reading.isLeased ? 1 : 0);
    }
  };
}
