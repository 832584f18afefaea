// The part of Grafana's JSON model for dashboards that our dashboards use, and the layout of panels.

interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
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

/** The PromQL expressions of a panel, by legend. */
export type Queries = Readonly<Record<string, string>>;

/** A panel that has no position and no id yet; the layout adds them. */
export interface Drawing {
  readonly type: 'stat' | 'timeseries' | 'state-timeline' | 'table';
  readonly title: string;
  readonly description: string;
  readonly size: { readonly w: number; readonly h: number };
  readonly queries: Queries;
  readonly fieldConfig: FieldConfig;
  readonly options: Readonly<Record<string, unknown>>;
  readonly transformations?: readonly unknown[];
}

export interface Section {
  readonly title: string;
  /** A collapsed row runs its queries only once a user opens it. */
  readonly isCollapsed?: boolean;
  readonly drawings: readonly Drawing[];
}

export interface Panel extends Partial<Omit<Drawing, 'type' | 'size' | 'queries'>> {
  readonly id: number;
  readonly type: Drawing['type'] | 'row';
  readonly title: string;
  readonly gridPos: GridPos;
  readonly datasource?: typeof DATASOURCE;
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
  readonly collapsed?: boolean;
  readonly panels?: readonly Panel[];
}

/** The data source that the user selects at the top of the dashboard. */
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** A dashboard variable with the values of a label. */
interface LabelVariable {
  readonly name: string;
  readonly label: string;
  /** A `label_values()` query of Grafana. */
  readonly query: string;
}

interface DashboardFacts {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly LabelVariable[];
}

/** Returns a whole dashboard. The panels already have positions. */
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

/** A variable that selects all values by default: `.*`, which also matches series without the label. */
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

/** The width of Grafana's grid. */
export const COLUMNS = 24;

/** Positions the panels of all sections, from top to bottom; a collapsed row contains its panels. */
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

/** Returns positions from left to right. A panel that is too wide for the rest of a line starts a new line. */
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

function panelOf(drawing: Drawing, id: number, gridPos: GridPos): Panel {
  const { type, title, description, queries, fieldConfig, options, transformations } = drawing;
  const targets = Object.entries(queries).map(([legend, expr], at) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + at),
    expr,
    legendFormat: legend,
    datasource: DATASOURCE,
    // A table shows only the newest values.
    ...(type === 'table' && { instant: true, format: 'table' }),
  }));
  const look = { fieldConfig, options, ...(transformations && { transformations }) };
  return { id, type, title, description, gridPos, datasource: DATASOURCE, targets, ...look };
}
