import { PanelBuilder as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge';
import {
  type DataSourceRef,
  StackingConfigBuilder,
  StackingMode,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import {
  type DashboardSpec,
  type PanelSpec,
  type QuerySpec,
  type VariableName,
  variables,
} from './panels.ts';

const datasource: DataSourceRef = { type: 'prometheus', uid: '$datasource' };
const panelHeight = 8;

/** Grafana's own description of a dashboard, in its classic form. */
export function buildDashboard(spec: DashboardSpec): Dashboard {
  const builder = new DashboardBuilder(spec.title)
    .uid(spec.uid)
    .description(spec.description)
    .tags(['regatta'])
    .readonly()
    .refresh('30s')
    .time({ from: 'now-3h', to: 'now' })
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  for (const name of spec.variables) builder.withVariable(variable(name));
  // Ids are given here, in order, so that links to panels stay while their order does.
  let id = 0;
  for (const row of spec.rows) {
    id += 1;
    builder.withRow(new RowBuilder(row.title).id(id));
    for (const each of row.panels) {
      id += 1;
      builder.withPanel(panel(each).id(id));
    }
  }
  return builder.build();
}

function variable(name: VariableName): QueryVariableBuilder {
  const { label, series, title } = variables[name];
  return new QueryVariableBuilder(name)
    .label(title)
    .datasource(datasource)
    .query({ query: `label_values(${series}, ${label})`, refId: name })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' });
}

function panel(spec: PanelSpec): TimeSeries | Stat | BarGauge | Table {
  switch (spec.kind) {
    case 'lines':
      return common(new TimeSeries(), spec)
        .fillOpacity(0)
        .legend(new VizLegendOptionsBuilder().showLegend(true))
        .min(0);
    case 'stacked':
      return common(new TimeSeries(), spec)
        .fillOpacity(40)
        .stacking(new StackingConfigBuilder().mode(StackingMode.Normal))
        .min(0);
    case 'stat':
      return common(new Stat(), spec);
    case 'bars':
      return common(new BarGauge(), spec).min(0);
    case 'table':
      return table(spec);
  }
}

type AnyPanel = TimeSeries | Stat | BarGauge | Table;

function common<Panel extends AnyPanel>(builder: Panel, spec: PanelSpec): Panel {
  const { title, description, unit, width, queries, kind } = spec;
  builder
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(datasource)
    .span(width)
    .height(panelHeight);
  queries.forEach((each, index) => {
    builder.withTarget(target(each, String.fromCharCode(65 + index), kind));
  });
  return builder;
}

function target({ expr, legend }: QuerySpec, refId: string, kind: PanelSpec['kind']): DataqueryBuilder {
  const query = new DataqueryBuilder().datasource(datasource).expr(expr).legendFormat(legend).refId(refId);
  switch (kind) {
    case 'lines':
    case 'stacked':
      return query.range();
    case 'stat':
    case 'bars':
      return query.instant();
    case 'table':
      return query.instant().format(PromQueryFormat.Table);
  }
}

/** One row for all queries that share their labels; a column each, titled by its legend. */
function table(spec: PanelSpec): Table {
  const builder = common(new Table(), spec);
  const isOnly = spec.queries.length === 1;
  const columns = spec.queries.map((query, index) => ({
    ...query,
    field: isOnly ? 'Value' : `Value #${String.fromCharCode(65 + index)}`,
  }));
  const excluded = ['Time', ...columns.flatMap(({ field, labelsOnly }) => (labelsOnly ? [field] : []))];
  builder.withTransformation({ id: 'merge', options: {} }).withTransformation({
    id: 'organize',
    options: {
      excludeByName: Object.fromEntries(excluded.map((field) => [field, true])),
      renameByName: Object.fromEntries(columns.map(({ field, legend }) => [field, legend])),
    },
  });
  for (const { legend, unit } of columns) {
    if (unit !== undefined) builder.overrideByName(legend, [{ id: 'unit', value: unit }]);
  }
  return builder;
}
