/** How a panel draws: lines over time, areas on top of each other, one number, bars, or a table. */
export type PanelKind = 'lines' | 'stacked' | 'stat' | 'bars' | 'table';

export type QuerySpec = {
  readonly expr: string;
  /** Legend of a series, with `{{label}}`; in tables the column's title. */
  readonly legend: string;
  /** A table's column may have a unit of its own. */
  readonly unit?: string;
  /** In tables: only the labels are of interest, the value is always 1. */
  readonly labelsOnly?: true;
};

export type PanelSpec = {
  readonly kind: PanelKind;
  readonly title: string;
  readonly description: string;
  /** Grafana's name of a unit. */
  readonly unit: string;
  /** Of 24. */
  readonly width: 6 | 8 | 12 | 24;
  readonly queries: readonly QuerySpec[];
};

export type RowSpec = { readonly title: string; readonly panels: readonly PanelSpec[] };

export type VariableName = 'namespace' | 'queue' | 'sweep' | 'model';

export type DashboardSpec = {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Beside the data source. */
  readonly variables: readonly VariableName[];
  readonly rows: readonly RowSpec[];
};

/** What each variable offers: the label, and a series that has it, narrowed by the variables before it. */
export const variables: Readonly<
  Record<VariableName, { readonly label: string; readonly series: string; readonly title: string }>
> = {
  namespace: { title: 'Namespace', label: 'namespace', series: 'regatta_build_info' },
  queue: {
    title: 'Queue',
    label: 'task_queue',
    series: 'regatta_build_info{namespace=~"$namespace"}',
  },
  sweep: {
    title: 'Sweep',
    label: 'sweep',
    series: 'regatta_sweep_planned_runs{namespace=~"$namespace",task_queue=~"$queue"}',
  },
  model: {
    title: 'Model',
    label: 'model',
    series: 'regatta_calls_total{namespace=~"$namespace",task_queue=~"$queue"}',
  },
};

/** The series that the variables chose. */
const own = 'namespace=~"$namespace",task_queue=~"$queue"';

/** A metric of the chosen fleet, with more matchers where given. */
export function ofFleet(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${[own, ...matchers].join(',')}}`;
}

/** A metric of the chosen sweeps. */
export function ofSweep(metric: string, ...matchers: readonly string[]): string {
  return ofFleet(metric, 'sweep=~"$sweep"', ...matchers);
}

/** A metric of the chosen models. */
export function ofModel(metric: string, ...matchers: readonly string[]): string {
  return ofFleet(metric, 'model=~"$model"', ...matchers);
}

/** How much a counter rose a second, summed by labels. */
export function ratePer(labels: string, counter: string): string {
  return `sum by (${labels}) (rate(${counter}[$__rate_interval]))`;
}

/** How much a counter rose in the dashboard's time range, summed by labels. */
export function riseOf(labels: string, counter: string): string {
  return `sum by (${labels}) (increase(${counter}[$__range]))`;
}

/** Gauges that several workers tell alike. */
export function told(labels: string, gauge: string): string {
  return `max by (${labels}) (${gauge})`;
}

/** The same for panels that show one value: the last one in the time range, also of sweeps that are long over. */
export function lastTold(labels: string, gauge: string): string {
  return told(labels, `last_over_time(${gauge}[$__range])`);
}

/** Percentiles of a histogram by labels; `selector` makes the selector of its buckets. */
export function percentiles(
  percents: readonly number[],
  labels: string,
  legend: string,
  buckets: string,
): readonly QuerySpec[] {
  const by = labels === '' ? 'le' : `le, ${labels}`;
  return percents.map((percent) => ({
    expr: `histogram_quantile(${percent / 100}, ${ratePer(by, buckets)})`,
    legend: `${legend} p${percent}`.trim(),
  }));
}
