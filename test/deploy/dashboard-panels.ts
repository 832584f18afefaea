// The dashboards of deploy/grafana as they are on disk.
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

/** Every panel, those inside closed rows too. */
export const allPanels = ({ panels }: Dashboard): readonly Panel[] =>
  panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);

/** Every expression with the title of its panel. */
export const expressionsOf = (
  board: Dashboard,
): readonly (readonly [title: string, expr: string])[] =>
  allPanels(board).flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, expr] as const),
  );
