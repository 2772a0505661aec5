import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import {
  type CounterName,
  counters,
  type GaugeName,
  gauges,
  type HistogramName,
  histograms,
} from './metric-catalogue.ts';

export type MetricMakers = {
  counter(name: CounterName): Counter;
  gauge(name: GaugeName): Gauge;
  histogram(name: HistogramName): Histogram;
};

/** Makes metrics as the catalogue says, in `registry`. */
export function metricMakers(registry: Registry): MetricMakers {
  const registers = [registry];
  return {
    counter(name) {
      const { help, labels } = counters[name];
      return new Counter({ name, help, labelNames: [...labels], registers });
    },
    gauge(name) {
      const { help, labels } = gauges[name];
      return new Gauge({ name, help, labelNames: [...labels], registers });
    },
    histogram(name) {
      const { help, labels, buckets } = histograms[name];
      return new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers });
    },
  };
}
