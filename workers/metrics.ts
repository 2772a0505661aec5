import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallRecord, Meter } from '../activities/ports.ts';
import { outcomes } from '../domain/outcome.ts';
import type { RunResult } from '../domain/run.ts';
import { firstValues, liveValues } from './label-values.ts';
import {
  type CounterName,
  counters,
  type GaugeName,
  gauges,
  type HistogramName,
  histograms,
  labelLimits,
} from './metric-catalogue.ts';

/** What an endpoint is doing right now. */
export type EndpointReading = {
  readonly model: string;
  readonly inFlight: number;
  readonly waiting: number;
  readonly limit: number;
};

export type MetricsOptions = {
  /** Regatta's. */
  readonly version: string;
  /** Node's. */
  readonly node: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

export type Metrics = {
  readonly meter: Meter;
  onPaceWait(wait: { readonly ms: number }): void;
  /** Asked for at each reading of the page. */
  watchEndpoints(readings: () => readonly EndpointReading[]): void;
  watchContact(isReachable: () => boolean): void;
  drains(): void;
  /** The page in Prometheus' text format 0.0.4. */
  text(): Promise<string>;
};

const sweepIdleMs = 3_600_000;

/** Counters that Node's own metrics call `_total` although they are gauges, which Prometheus' linter refuses. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** The metrics of one worker process, in a registry of their own, with Node's beside them. */
export function createMetrics({ version, node, now }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const { counter, gauge, histogram } = factories(registry);

  const overflow = counter('regatta_label_overflow_total');
  const models = firstValues({
    limit: labelLimits.model,
    onOverflow: () => overflow.inc({ label: 'model' }),
  });
  const calls = callMeter(registry, models.admit);
  const runs = runMeter(registry, { now, onOverflow: () => overflow.inc({ label: 'sweep' }) });
  const turns = counter('regatta_turns_total');
  const open = gauge('regatta_runs_open');
  const paceWait = histogram('regatta_pace_wait_seconds');
  const draining = gauge('regatta_draining');
  const contactLost = gauge('regatta_contact_lost');
  const showEndpoints = endpointGauges(registry, models.admit);
  gauge('regatta_build_info').set({ version, node }, 1);

  let isReachable = () => true;
  let readings: () => readonly EndpointReading[] = () => [];
  return {
    meter: {
      call: calls,
      turn: () => turns.inc(),
      runOpened: () => open.inc(),
      runLeft: () => open.dec(),
      runEnded: runs.ended,
    },
    onPaceWait: ({ ms }) => paceWait.observe(ms / 1000),
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

function factories(registry: Registry) {
  const registers = [registry];
  return {
    counter(name: CounterName): Counter {
      const { help, labels } = counters[name];
      return new Counter({ name, help, labelNames: [...labels], registers });
    },
    gauge(name: GaugeName): Gauge {
      const { help, labels } = gauges[name];
      return new Gauge({ name, help, labelNames: [...labels], registers });
    },
    histogram(name: HistogramName): Histogram {
      const { help, labels, buckets } = histograms[name];
      return new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers });
    },
  };
}

function callMeter(registry: Registry, admit: (model: string) => string): (record: CallRecord) => void {
  const { counter, histogram } = factories(registry);
  const calls = counter('regatta_calls_total');
  const durations = histogram('regatta_call_duration_seconds');
  const tokens = counter('regatta_tokens_total');
  const cost = counter('regatta_cost_usd_total');
  return ({ role, model: name, code, ms, usage, costUsd }) => {
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

function runMeter(
  registry: Registry,
  options: { readonly now: () => number; readonly onOverflow: () => void },
) {
  const { counter, histogram } = factories(registry);
  const runs = counter('regatta_runs_total');
  const endings = counter('regatta_endings_total');
  const faults = counter('regatta_faults_total');
  const durations = histogram('regatta_run_duration_seconds');
  const sweeps = liveValues({
    ...options,
    limit: labelLimits.sweep,
    idleMs: sweepIdleMs,
    onLeave(sweep) {
      for (const outcome of outcomes) runs.remove({ sweep, outcome });
    },
  });
  return {
    prune: sweeps.prune,
    ended(sweep: string, { outcome, ending, fault, blame, startedAt, endedAt }: RunResult): void {
      runs.inc({ sweep: sweeps.admit(sweep), outcome });
      durations.observe(Math.max(0, endedAt - startedAt) / 1000);
      if (ending !== undefined) endings.inc({ ending: ending.kind });
      if (fault !== undefined) faults.inc({ code: fault.code, blame: blame ?? 'infrastructure' });
    },
  };
}

/** Several endpoints may go by one name (other sweeps, other keys): their sum is shown. */
function endpointGauges(registry: Registry, admit: (model: string) => string) {
  const { gauge } = factories(registry);
  const inFlight = gauge('regatta_calls_in_flight');
  const waiting = gauge('regatta_calls_waiting');
  const limit = gauge('regatta_pace_limit');
  return (readings: readonly EndpointReading[]): void => {
    for (const each of [inFlight, waiting, limit]) each.reset();
    for (const reading of readings) {
      const model = admit(reading.model);
      inFlight.inc({ model }, reading.inFlight);
      waiting.inc({ model }, reading.waiting);
      limit.inc({ model }, reading.limit);
    }
  };
}
