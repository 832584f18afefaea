// Reads the dashboards of deploy/grafana from the files.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Dashboard, Panel } from '#app/dashboards/dashboard.js';

export const GRAFANA = 'deploy/grafana';

export const DASHBOARDS: ReadonlyMap<string, Dashboard> = new Map(
  readdirSync(GRAFANA).map((file) => [
    file,
    JSON.parse(readFileSync(join(GRAFANA, file), 'utf8')) as Dashboard,
  ]),
);

/** Returns every panel, including those in collapsed rows. */
export const allPanels = ({ panels }: Dashboard): readonly Panel[] =>
  panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);

/** Returns every expression and the title of its panel. */
export const expressionsOf = (
  board: Dashboard,
): readonly (readonly [title: string, expr: string])[] =>
  allPanels(board).flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, expr] as const),
  );
