import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { dashboardFile, dashboards } from '../../deploy/grafana/write.ts';

/** A query of a panel, as the published dashboard has it. */
export type PanelQuery = { readonly where: string; readonly expr: string; readonly legend: string };

export type Rule = {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

/** Where a query reads a metric. */
export type Selector = {
  readonly metric: string;
  readonly text: string;
  /** The window in brackets, where there is one, and the function that is applied to it. */
  readonly window?: string;
  readonly call?: string;
};

/** What stands in for a dashboard's variables: both windows can be told apart. */
export const windows = { rate: '11s', range: '61s' } as const;

export type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title?: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly {
    readonly expr: string;
    readonly refId: string;
    readonly legendFormat: string;
    readonly datasource: { readonly uid: string };
  }[];
};

export type PublishedDashboard = {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly schemaVersion: number;
  readonly editable: boolean;
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly refresh?: number;
      readonly query: string | { readonly query: string };
      readonly datasource?: { readonly uid: string };
    }[];
  };
};

export const dashboardNames: readonly string[] = Object.keys(dashboards);

export function publishedDashboard(name: string): PublishedDashboard {
  return JSON.parse(readFileSync(dashboardFile(name), 'utf8'));
}

export function panelQueries(): readonly PanelQuery[] {
  return dashboardNames.flatMap((name) =>
    publishedDashboard(name).panels.flatMap((panel) =>
      (panel.targets ?? []).map(({ expr, refId, legendFormat }) => ({
        where: `${name}: ${panel.title} ${refId}`,
        expr,
        legend: legendFormat,
      })),
    ),
  );
}

export const rulesFile = new URL('../../deploy/prometheus/regatta.rules.yaml', import.meta.url);

export function publishedRules(): readonly Rule[] {
  const { groups } = parse(readFileSync(rulesFile, 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap((group) => group.rules);
}

/** A panel's query with everything chosen, as Prometheus takes it. */
export function filledIn(expr: string): string {
  return expr
    .replaceAll('$__rate_interval', windows.rate)
    .replaceAll('$__range', windows.range)
    .replace(/\$(namespace|queue|sweep|model)\b/g, '.*');
}

/** Where the syntax of a query is wrong; empty where it is right. */
export function syntaxErrors(expr: string): readonly string[] {
  const errors: string[] = [];
  parser.parse(expr).iterate({
    enter(node) {
      if (node.type.isError) errors.push(`at ${node.from}: ${expr.slice(node.from)}`);
    },
  });
  return errors;
}

/** Every place where a query reads a metric. */
export function selectorsOf(expr: string): readonly Selector[] {
  const found: Selector[] = [];
  const textOf = (node: { readonly from: number; readonly to: number }) => expr.slice(node.from, node.to);
  parser.parse(expr).iterate({
    enter(ref) {
      if (ref.name !== 'VectorSelector') return;
      const { node } = ref;
      const matrix = node.parent?.name === 'MatrixSelector' ? node.parent : undefined;
      const window = matrix?.getChild('DurationExpr');
      const call = matrix?.parent?.parent?.getChild('FunctionIdentifier');
      const metric = node.getChild('Identifier');
      found.push({
        metric: metric === null ? '' : textOf(metric),
        text: textOf(node),
        ...(window ? { window: textOf(window) } : {}),
        ...(call ? { call: textOf(call) } : {}),
      });
    },
  });
  return found;
}

/** A metric's name in the catalogue: histograms are read by their parts. */
export function familyOf(metric: string): string {
  return metric.replace(/_seconds_(bucket|sum|count)$/, '_seconds');
}
