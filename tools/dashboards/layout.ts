// Gives panels their places in Grafana's grid of 24 columns, and their numbers.
import { DATASOURCE } from './dashboard.js';
import type { Drawing, GridPos, Panel, Section } from './dashboard.js';

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
