// The dashboards as files for Grafana: one for each built-in application, and one for the exporter.
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { appDashboard } from './app-dashboard.js';
import { APP_LAYOUTS } from './app-layouts.js';
import type { Dashboard } from './dashboard.js';
import { exporterDashboard } from './exporter/exporter-dashboard.js';

/** All dashboards, by the name of their file. */
export function dashboards(): ReadonlyMap<string, Dashboard> {
  const catalogues = loadCatalogues();
  const ofApps = Object.entries(APP_LAYOUTS).flatMap(([app, layout]) => {
    const catalogue = catalogues.get(app);
    return catalogue === undefined
      ? []
      : [[`${app}.json`, appDashboard(catalogue, layout)] as const];
  });
  return new Map([...ofApps, ['shm_exporter.json', exporterDashboard()]]);
}

/** The text of each file. */
export const dashboardTexts = (): ReadonlyMap<string, string> =>
  new Map([...dashboards()].map(([name, made]) => [name, `${JSON.stringify(made, null, 2)}\n`]));
