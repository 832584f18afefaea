// The parts of a Grafana dashboard that ours have, as its JSON model names them.

interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface Datasource {
  readonly type: string;
  readonly uid: string;
}

interface Query {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: Datasource;
  /** Only the newest value, as a table. */
  readonly instant?: boolean;
  readonly format?: 'table';
}

export interface ValueMapping {
  readonly type: 'value';
  readonly options: Readonly<
    Record<string, { readonly text: string; readonly color: string; readonly index: number }>
  >;
}

interface FieldConfig {
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly overrides: readonly unknown[];
}

/** A panel before it has its place and number. */
export interface Drawing {
  readonly type: 'stat' | 'timeseries' | 'state-timeline' | 'table';
  readonly title: string;
  readonly description: string;
  readonly size: { readonly w: number; readonly h: number };
  readonly queries: readonly { readonly expr: string; readonly legend: string }[];
  readonly fieldConfig: FieldConfig;
  readonly options: Readonly<Record<string, unknown>>;
  readonly transformations?: readonly unknown[];
}

export interface Section {
  readonly title: string;
  /** Closed until somebody opens it; its queries do not run before. */
  readonly isCollapsed?: boolean;
  readonly drawings: readonly Drawing[];
}

export interface Panel {
  readonly id: number;
  readonly type: Drawing['type'] | 'row';
  readonly title: string;
  readonly gridPos: GridPos;
  readonly description?: string;
  readonly datasource?: Datasource;
  readonly targets?: readonly Query[];
  readonly fieldConfig?: FieldConfig;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly transformations?: readonly unknown[];
  readonly collapsed?: boolean;
  readonly panels?: readonly Panel[];
}

/** Chosen at the top of the dashboard. */
const DATASOURCE: Datasource = { type: 'prometheus', uid: '${datasource}' };

/** A variable with the values of a label. */
interface LabelVariable {
  readonly name: string;
  readonly label: string;
  /** A `label_values()` of Grafana. */
  readonly query: string;
}

interface DashboardFacts {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly LabelVariable[];
}

/** Makes the whole dashboard; `panels` are laid out. */
export const dashboard = (
  { uid, title, description, variables }: DashboardFacts,
  panels: readonly Panel[],
) => ({
  uid,
  title,
  description,
  tags: ['shm_exporter'],
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-1h', to: 'now' },
  timezone: 'browser',
  annotations: { list: [] },
  links: [
    {
      type: 'dashboards',
      title: 'shm_exporter',
      tags: ['shm_exporter'],
      asDropdown: true,
      icon: 'external link',
      includeVars: false,
      keepTime: true,
      targetBlank: false,
      tooltip: '',
      url: '',
    },
  ],
  templating: { list: [DATASOURCE_VARIABLE, ...variables.map(labelVariable)] },
  panels,
});

export type Dashboard = ReturnType<typeof dashboard>;

const DATASOURCE_VARIABLE = {
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  refresh: 1,
  regex: '',
  hide: 0,
  includeAll: false,
  multi: false,
  options: [],
  current: {},
};

/** All values at first; `.*` stands for them, so that series without the label are shown as well. */
const labelVariable = ({ name, label, query }: LabelVariable) => ({
  name,
  label,
  type: 'query',
  datasource: DATASOURCE,
  definition: query,
  query: { query, refId: name },
  refresh: 2,
  regex: '',
  sort: 1,
  hide: 0,
  includeAll: true,
  allValue: '.*',
  multi: true,
  options: [],
  current: { selected: true, text: ['All'], value: ['$__all'] },
});

// Gives panels their places in Grafana's grid of 24 columns, and their numbers.
export const COLUMNS = 24;

/** All sections from top to bottom; the panels of a collapsed one lie inside its row. */
export function layOut(sections: readonly Section[]): readonly Panel[] {
  const panels: Panel[] = [];
  let id = 0;
  let y = 0;
  for (const { title, isCollapsed = false, drawings } of sections) {
    const row = { id: ++id, type: 'row', title, gridPos: { x: 0, y, w: COLUMNS, h: 1 } } as const;
    const places = placesOf(drawings, y + 1);
    const placed = drawings.map((drawing, at) =>
      panelOf(drawing, ++id, places.at(at) ?? row.gridPos),
    );
    panels.push({ ...row, collapsed: isCollapsed, panels: isCollapsed ? placed : [] });
    if (!isCollapsed) panels.push(...placed);
    y = isCollapsed ? y + 1 : Math.max(y + 1, ...places.map((place) => place.y + place.h));
  }
  return panels;
}

/** Side by side while there is room, then below the highest of the line. */
function placesOf(drawings: readonly Drawing[], top: number): readonly GridPos[] {
  let x = 0;
  let y = top;
  let lineHeight = 0;
  return drawings.map(({ size: { w, h } }) => {
    if (x + w > COLUMNS) {
      x = 0;
      y += lineHeight;
      lineHeight = 0;
    }
    const place = { x, y, w, h };
    x += w;
    lineHeight = Math.max(lineHeight, h);
    return place;
  });
}

const refIdOf = (index: number): string => String.fromCharCode('A'.charCodeAt(0) + index);

function panelOf(drawing: Drawing, id: number, gridPos: GridPos): Panel {
  const { type, title, description, queries, fieldConfig, options, transformations } = drawing;
  const targets = queries.map(({ expr, legend }, at) => ({
    refId: refIdOf(at),
    expr,
    legendFormat: legend,
    datasource: DATASOURCE,
    ...(type === 'table' && { instant: true, format: 'table' as const }),
  }));
  const look = { fieldConfig, options, ...(transformations && { transformations }) };
  return { id, type, title, description, gridPos, datasource: DATASOURCE, targets, ...look };
}
